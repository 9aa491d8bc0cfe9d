"""An arm above a table, in MuJoCo. A skill asks for motions; each look at it lets 20 ms of the simulation pass.

Controlled at 100 Hz: every 10 ms the next set point. A skill that is cancelled leaves the arm where it is, holding on.
"""

import os
import threading
from collections.abc import Iterator
from ctypes.util import find_library
from typing import Any

for _name, _library in (("egl", "EGL"), ("osmesa", "OSMesa")):  # draws without a screen; MuJoCo reads it once
    if find_library(_library) and "DISPLAY" not in os.environ:
        os.environ.setdefault("MUJOCO_GL", _name)

import mujoco  # noqa: E402 (of the extra: pip install 'bt_runtime[robot]')

import bt_runtime as bt  # noqa: E402
from bt_runtime import Status  # noqa: E402
from bt_runtime.run.view.scene import image  # noqa: E402

CONTROL = 0.01  # seconds between two set points
EACH_LOOK = 2  # set points: a tree looks at what runs every 20 ms
SPEED = 1.2  # metres a second
HIGH, HOME = 0.15, (0.0, -0.2, 0.15)
CUBES = {"red cube": (-0.1, 0.05), "green cube": (0.05, 0.1), "blue cube": (0.1, -0.05)}
COLOURS = {"red cube": "0.8 0.2 0.2 1", "green cube": "0.2 0.6 0.3 1", "blue cube": "0.2 0.3 0.8 1"}
TRAYS = {"left tray": (-0.27, 0.0), "right tray": (0.27, 0.0)}
SIDES = {"left": (-1, 0), "right": (1, 0), "forward": (0, 1), "back": (0, -1)}
NEAR = 0.08  # metres from the middle of a tray
WIDTH, HEIGHT = 320, 240  # of the picture
POWER = 0.03  # of the battery, a second of motion

_AXES = {"x": "1 0 0", "y": "0 1 0", "z": "0 0 1"}


def scene() -> str:
    """A gantry with a suction cup, cubes of 4 cm, two trays."""
    cubes = "".join(
        f'<body name="{name}" pos="{x} {y} 0.02"><freejoint/>'
        f'<geom type="box" size="0.02 0.02 0.02" mass="0.05" rgba="{COLOURS[name]}" friction="1 0.01 0.001"/></body>'
        for name, (x, y) in CUBES.items()
    )
    trays = "".join(
        f'<geom type="box" size="0.07 0.1 0.001" pos="{x} {y} 0" contype="0" conaffinity="0" rgba="0.5 0.4 0.3 1"/>'
        for x, y in TRAYS.values()
    )
    joints = "".join(f'<joint name="{n}" type="slide" axis="{axis}" damping="20"/>' for n, axis in _AXES.items())
    motors = "".join(f'<position joint="{n}" kp="2000" kv="150"/>' for n in _AXES)
    return f"""<mujoco>
<option timestep="0.002" integrator="implicitfast"/>
<visual><quality offsamples="1" shadowsize="0"/><headlight ambient="0.5 0.5 0.5"/></visual>
<worldbody>
  <light pos="0 -0.5 1.5"/>
  <camera name="front" pos="0 -0.9 0.7" xyaxes="1 0 0 0 0.6 0.8"/>
  <geom type="box" size="0.5 0.35 0.02" pos="0 0 -0.02" rgba="0.9 0.9 0.85 1"/>{trays}{cubes}
  <body name="cup" pos="{HOME[0]} {HOME[1]} {HOME[2]}" gravcomp="1">{joints}
    <geom type="cylinder" size="0.012 0.01" mass="0.5" margin="0.003" gap="0.003" rgba="0.2 0.2 0.2 1"/>
  </body>
</worldbody>
<actuator>{motors}<adhesion body="cup" ctrlrange="0 1" gain="15"/></actuator>
</mujoco>"""


class Arm:
    """The one arm of this process; skills share it."""

    def __init__(self) -> None:
        self.model: Any = mujoco.MjModel.from_xml_string(scene())
        self.data: Any = mujoco.MjData(self.model)
        self.steps = round(CONTROL / self.model.opt.timestep)
        self.battery = 1.0
        self.holding = ""
        self.camera: Camera | None = None  # nobody has looked yet
        mujoco.mj_forward(self.model, self.data)

    def at(self, body: str) -> tuple[float, float, float]:
        x, y, z = self.data.body(body).xpos
        return float(x), float(y), float(z)

    def step(self) -> None:
        """10 ms."""
        mujoco.mj_step(self.model, self.data, nstep=self.steps)

    def aim(self, x: float, y: float, z: float) -> None:
        self.data.ctrl[:3] = [a - b for a, b in zip((x, y, z), HOME, strict=True)]

    def go(self, x: float, y: float, z: float) -> Iterator[None]:
        """In a straight line; one set point each time."""
        begin, end = self.at("cup"), (x, y, z)
        length = sum((b - a) ** 2 for a, b in zip(begin, end, strict=True)) ** 0.5
        count = max(1, round(length / (SPEED * CONTROL)))
        for i in range(1, count + 1):
            self.aim(*(a + (b - a) * i / count for a, b in zip(begin, end, strict=True)))
            self.battery = max(0.0, self.battery - POWER * CONTROL)
            yield
        yield from self.rest(0.1)

    def rest(self, seconds: float) -> Iterator[None]:
        for _ in range(round(seconds / CONTROL)):
            yield

    def suck(self, on: bool) -> None:
        self.data.ctrl[3] = 1.0 if on else 0.0

    def carried(self) -> str:
        """The cube that really hangs at the cup."""
        cup = self.at("cup")
        for name in CUBES:
            x, y, z = self.at(name)
            if abs(x - cup[0]) < 0.02 and abs(y - cup[1]) < 0.02 and abs(cup[2] - z - 0.03) < 0.01 and z > 0.03:
                return name
        return ""

    def loose(self) -> list[str]:
        """Cubes that lie in no tray."""
        return [name for name in CUBES if not self.tray_of(name)]

    def tray_of(self, cube: str) -> str:
        x, y, z = self.at(cube)
        near = (t for t, (a, b) in TRAYS.items() if abs(x - a) < NEAR and abs(y - b) < NEAR and z < 0.05)
        return next(near, "")

    def picture(self) -> dict[str, str]:
        self.camera = self.camera or Camera(self.model)
        return self.camera.look(self.data)

    def hand(self) -> dict[str, Any]:
        return {"holding": self.holding or "nothing", "hand_empty": not self.holding}


class Camera:
    """Draws in a thread of its own, which no motion waits for: whoever looks gets the picture that was ready last."""

    def __init__(self, model: Any) -> None:
        self.model, self.shown = model, mujoco.MjData(model)
        self.wanted, self.ready = threading.Semaphore(0), threading.Event()
        self.ready.set()
        self.last: dict[str, str] = {"is": "text", "text": "The first picture comes soon."}
        threading.Thread(target=self.draw, name="camera", daemon=True).start()

    def look(self, data: Any) -> dict[str, str]:
        if self.ready.is_set():
            self.ready.clear()
            mujoco.mj_copyData(self.shown, self.model, data)
            self.wanted.release()
        return self.last

    def draw(self) -> None:
        renderer: Any = None
        while self.wanted.acquire():
            try:
                renderer = renderer or mujoco.Renderer(self.model, HEIGHT, WIDTH)
                renderer.update_scene(self.shown, "front")
                self.last = image(WIDTH, HEIGHT, renderer.render().tobytes())
            except Exception as error:  # it looks for a library, a driver or a screen
                why = f"{type(error).__name__}: {error}".partition("\n")[0]
                hint = "install EGL or OSMesa: apt-get install libegl1 libosmesa6"
                self.last = {"is": "text", "text": f"No picture: MuJoCo cannot draw here ({why}); {hint}"}
            self.ready.set()


_arms: list[Arm] = []


def arm() -> Arm:
    if not _arms:
        _arms.append(Arm())
    return _arms[0]


def fresh(task: Any) -> None:
    """Before each task of `tasks.yaml`: the table as it was at first."""
    _arms.clear()


def as_wanted(task: Any) -> bool:
    """True when every cube lies in the tray that the task names."""
    return all(arm().tray_of(cube) == tray for cube, tray in task.data["trays"].items())


class Motion(bt.Skill):
    """A skill that is a course of set points; its subclasses say which, and how it came out."""

    def begin(self, *args: Any, **params: Any) -> Iterator[None]:
        yield

    def outcome(self) -> Status:
        return Status.SUCCESS

    def start(self, **params: Any) -> None:
        self.arm, self.params = arm(), params
        self.feedback, self.result = "", None
        self.course = self.begin(**params)

    def poll(self) -> Status:
        for _ in range(EACH_LOOK):
            if next(self.course, self) is self:
                return self.outcome()
            self.arm.step()
        return Status.RUNNING

    def picture(self) -> dict[str, str]:
        """What the page shows: any skill may have this."""
        return arm().picture()

    def cancel(self) -> None:
        self.arm.aim(*self.arm.at("cup"))  # stay; what is held stays held


class Look(Motion):
    def outcome(self) -> Status:
        self.result = {"things": self.arm.loose(), "trays": list(TRAYS)}
        return Status.SUCCESS


class Pick(Motion):
    def begin(self, thing: str) -> Iterator[None]:
        if thing not in CUBES:
            return
        self.arm.suck(False)
        yield from self.arm.rest(0.2)  # what hung there from an interrupted start has come to rest
        yield from self.arm.go(*self.arm.at("cup")[:2], HIGH)
        x, y, z = self.arm.at(thing)
        yield from self.arm.go(x, y, HIGH)
        self.arm.suck(True)
        yield from self.arm.go(x, y, z + 0.029)
        yield from self.arm.rest(0.1)
        yield from self.arm.go(x, y, HIGH)

    def outcome(self) -> Status:
        self.arm.holding = self.arm.carried()
        self.result = self.arm.hand()
        if self.arm.holding == self.params["thing"]:
            return Status.SUCCESS
        self.feedback = f"The {self.params['thing']} is not held."
        return Status.FAILURE

    def verify(self, thing: str) -> bool | dict[str, Any]:
        arm().holding = arm().carried()
        return arm().hand() if arm().holding == thing else False  # done: then these are its outputs


class Place(Motion):
    def begin(self, tray: str) -> Iterator[None]:
        if tray not in TRAYS or not self.arm.holding:
            return
        x, y = TRAYS[tray]
        lane = (list(CUBES).index(self.arm.holding) - 1) * 0.05  # beside one another
        yield from self.arm.go(*self.arm.at("cup")[:2], HIGH)
        yield from self.arm.go(x, y + lane, HIGH)
        yield from self.arm.go(x, y + lane, 0.055)
        self.arm.suck(False)
        yield from self.arm.rest(0.1)
        yield from self.arm.go(x, y + lane, HIGH)

    def outcome(self) -> Status:
        put, self.arm.holding = self.arm.holding, ""
        self.result = self.arm.hand()
        if put and self.arm.tray_of(put) == self.params["tray"]:
            return Status.SUCCESS
        self.feedback = f"The {put} is not in the {self.params['tray']}." if put else "Nothing is held."
        return Status.FAILURE


class Move(Motion):
    def begin(self, side: str, centimetres: float) -> Iterator[None]:
        (x, y, z), (dx, dy) = self.arm.at("cup"), SIDES[side]
        yield from self.arm.go(x + dx * centimetres / 100, y + dy * centimetres / 100, z)


class Home(Motion):
    def begin(self) -> Iterator[None]:
        yield from self.arm.go(*HOME)


class Charge(Motion):
    def begin(self) -> Iterator[None]:
        while self.arm.battery < 1.0:
            self.arm.battery = min(1.0, self.arm.battery + CONTROL)
            self.feedback = f"{self.arm.battery:.0%}"
            yield


class Battery(Motion):
    def poll(self) -> Status:
        self.result = {"level": round(self.arm.battery, 3)}
        return Status.SUCCESS

    def cancel(self) -> None:
        """It moves nothing."""
