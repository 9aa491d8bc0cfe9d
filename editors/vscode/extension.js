// Starts `btr serve lsp`, and runs in a terminal what its code lenses offer.
"use strict";
const path = require("path");
const vscode = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

let client;

function program() {
  const said = vscode.workspace.getConfiguration("btr").get("path") || "btr";
  const folder = vscode.workspace.workspaceFolders && vscode.workspace.workspaceFolders[0];
  const relative = said.includes("/") && !path.isAbsolute(said);
  return relative && folder ? path.join(folder.uri.fsPath, said) : said;
}

async function start() {
  const server = { command: program(), args: ["serve", "lsp"], transport: TransportKind.stdio };
  const selector = [
    { scheme: "file", language: "yaml" },
    { scheme: "file", pattern: "**/guides/**/*.md" },
    { scheme: "file", pattern: "**/trees/prompts/*.md" },
  ];
  client = new LanguageClient("btr", "bt_runtime", { run: server, debug: server }, { documentSelector: selector });
  try {
    await client.start();
  } catch (error) {
    vscode.window.showErrorMessage(
      `bt_runtime: ${program()} lsp does not start. pip install 'bt_runtime[lsp]', or set btr.path. (${error.message})`
    );
  }
}

// As arguments of a process, never as a line for a shell: a file may be called anything.
function inTerminal(name, command, args) {
  const folder = vscode.workspace.workspaceFolders && vscode.workspace.workspaceFolders[0];
  const scope = folder || vscode.TaskScope.Workspace;
  const task = new vscode.Task({ type: "btr" }, scope, name, "btr", new vscode.ProcessExecution(command, args));
  return vscode.tasks.executeTask(task);
}

function current() {
  const editor = vscode.window.activeTextEditor;
  return editor ? editor.document.uri.fsPath : undefined;
}

function activate(context) {
  const commands = {
    "btr.run": (file = current()) => file && inTerminal("run", program(), ["run", file]),
    "btr.test": (...files) => inTerminal("test", "python", ["-m", "pytest", ...files]),
    "btr.restart": async () => {
      if (client) await client.stop();
      await start();
    },
  };
  for (const [name, run] of Object.entries(commands)) {
    context.subscriptions.push(vscode.commands.registerCommand(name, run));
  }
  return start();
}

function deactivate() {
  return client && client.stop();
}

module.exports = { activate, deactivate };
