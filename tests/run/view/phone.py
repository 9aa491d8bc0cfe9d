"""A browser on a screen for one finger."""

from __future__ import annotations

from tests.run.view.browser import Browser

WIDTH, HEIGHT, FINGER = 390, 844, 40
OUTSIDE = """
  const seen = document.querySelectorAll('button, input, h1, .pill, .said, #status, td, form, a');
  const cut = (e) => { const r = e.getBoundingClientRect(); return r.left < 0 || r.right > innerWidth + 1
    || e.scrollWidth > e.clientWidth + 1 && e.matches('button, .pill, h1'); };
  return [...seen].filter((e) => e.offsetParent && cut(e)).map((e) => `${e.tagName} ${e.id || e.textContent}`);
"""


class Phone(Browser):
    def __init__(self, dark: bool = False) -> None:
        super().__init__(WIDTH, HEIGHT, dark)
        screen = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 2, "mobile": True}
        self.protocol("Emulation.setDeviceMetricsOverride", screen)
        self.protocol("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 1})

    def outside(self) -> list[str]:
        """What is cut off at the left or the right."""
        return list(self.js(OUTSIDE))

    def tap(self, selector: str) -> None:
        """A finger on the middle of an element, which must be as high as a finger."""
        at = self.js(
            "const e = document.querySelector(arguments[0]); e.scrollIntoView({ block: 'nearest' });"
            "const frame = () => new Promise(requestAnimationFrame);"  # what was scrolled stands there after two
            "return frame().then(frame).then(() => { const r = e.getBoundingClientRect();"
            "return { x: r.left + r.width / 2, y: r.top + r.height / 2, height: r.height }; });",
            selector,
        )
        assert at.pop("height") >= FINGER, selector
        # one request: a finger that another one lifts may rest too long on a busy machine, and presses nothing
        finger = [{"type": "pointerMove", "duration": 0, "x": round(at["x"]), "y": round(at["y"])}]
        finger += [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        touch = {"type": "pointer", "id": "finger", "parameters": {"pointerType": "touch"}, "actions": finger}
        self.ask("POST", f"{self.session}/actions", {"actions": [touch]})
