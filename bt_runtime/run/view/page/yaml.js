"use strict";
// A field for YAML: Ace, where the package that brings it is installed.

const ACE = { sheets: ["ace", "theme/github_light_default", "theme/github_dark"], parts: ["ace", "mode-yaml", "ext-searchbox", "ext-language_tools", "theme-github_light_default", "theme-github_dark"] };

// Loads Ace once; false where it is not there.
function loadAce() {
  loadAce.loading ??= (async () => {
    for (const sheet of ACE.sheets) document.head.append(el("link", { rel: "stylesheet", href: `ace/css/${sheet}.css` }));
    for (const name of ACE.parts) await new Promise((done) => document.head.append(el("script", { src: `ace/${name}.js`, on: { load: done, error: done } })));
    if (!window.ace) return false;
    ace.config.set("useStrictCSP", true);
    ace.config.set("loadWorkerFromBlob", false);
    return true;
  })();
  return loadAce.loading;
}

// An editor of YAML in this element. `completed(at, done)` is asked for what may stand there.
function yamlEditor(holder, completed, options = {}) {
  const made = ace.edit(holder, { mode: "ace/mode/yaml", useWorker: false, tabSize: 2, useSoftTabs: true, showPrintMargin: false, fontSize: 12.5, ...options });
  made.session.setUseWorker(false);
  made.setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "ace/theme/github_dark" : "ace/theme/github_light_default");
  made.commands.removeCommands(["gotoline"]);
  made.setOptions({ enableBasicAutocompletion: true, enableLiveAutocompletion: true });
  made.completers = [{ getCompletions: (editor, session, at, prefix, done) => completed(at, done), identifierRegexps: [/[\w-]/] }];
  return made;
}

// What the server offers, as Ace takes it.
function aceItems(found) { return (found?.items ?? []).map((i, n) => ({ caption: i.label, meta: i.detail, score: 1000 - n, ...(i.insert ? { snippet: i.insert } : { value: i.label }) })); }
