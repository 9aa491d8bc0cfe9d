"""XML for `btr import` that is meant to do harm: entities, includes that lead out, scripts in names, sizes."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tests.hostile.case import Case, File

HEAD = '<root BTCPP_format="4" main_tree_to_execute="M">'
RUN = "open('../pwned','w')"
LEAF = "<AlwaysSuccess/>"


def tree(body: str, id: str = "M") -> str:
    return f'<BehaviorTree ID="{id}">{body}</BehaviorTree>'


def whole(body: str, *more: str, before: str = "", head: str = HEAD) -> str:
    return f"{before}{head}{''.join(more)}{tree(body)}</root>"


def include(path: str) -> str:
    return whole(LEAF, f'<include path="{path}"/>')


def many(count: int, made: str) -> str:
    return "".join(made.replace("#", str(number)) for number in range(count))


VALUES = ["x" * 10] + [f"&a{n};" * 10 for n in range(11)]
ENTITIES = "".join(f'<!ENTITY a{n} "{value}">' for n, value in enumerate(VALUES))
PORT = '<TreeNodesModel><Action ID="Foo"><input_port name="a" default="{}">{}</input_port></Action></TreeNodesModel>'
SUBTREE, NODE, MODEL, ATTRIBUTE = '<SubTree ID="S#"/>', '<N# p="1"/>', '<Action ID="F#"/>', 'a#="1" '
LINES = 'x"""\n' + RUN + '\n"""'
QUOTED = RUN.replace("'", "&apos;")
OWN = '<TreeNodesModel><SubTree ID="M">{}</SubTree></TreeNodesModel>'
BREAKS = '<Meta a="&#8232;root: 1">\nroot: 2\u2028x</Meta>'
DOCUMENTS: dict[str, str | bytes] = {
    "laughs": whole('<Script code="&a11;"/>', before=f"<!DOCTYPE r [{ENTITIES}]>"),
    "external": whole('<Script code="&x;"/>', before='<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>'),
    "parameter": whole(LEAF, before='<!DOCTYPE r [<!ENTITY % x SYSTEM "file:///etc/passwd">%x;]>'),
    "doctype": whole(LEAF, before='<!DOCTYPE r SYSTEM "http://127.0.0.1:9/x.dtd">'),
    "doctype-and-raw": whole('<Script code="a<1 && &x;"/>', before='<!DOCTYPE r [<!ENTITY x "y">]>'),
    "xinclude": whole(LEAF, '<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="/etc/passwd"/>'),
    "include-absolute": include("/etc/passwd"),
    "include-up": include("../../outside.xml"),
    "include-link": include("link.xml"),
    "include-loop": include("loop.xml"),
    "include-self": include("t.xml"),
    "include-odd": include("a&#x10ffff;b"),
    "include-empty": include(""),
    "include-pipe": include("pipe.xml"),
    "include-device": include("zero.xml"),
    "include-folder": include("folder.xml"),
    "include-package": whole(LEAF, '<include ros_pkg="../.." path="../etc/passwd"/>'),
    "include-long": include("a/" * 100_000),
    "id-traverse": whole('<SubTree ID="../../../evil"/>', tree(LEAF, "../../../evil")),
    "id-absolute": whole('<SubTree ID="/tmp/evil"/>', tree(LEAF, "/tmp/evil")),
    "id-stub": whole('<SubTree ID="../../../evil"/>'),
    "id-python": whole(f'<Action ID="x&quot;&#10;{RUN}&#10;"/>'),
    "id-long": whole(f'<Action ID="{"x" * 5000}"/>'),
    "port-name": whole('<A1 a&#233;="1"/>'),
    "port-python": whole("<Foo/>", PORT.format("1", LINES)),
    "default-python": whole("<Foo/>", PORT.format(QUOTED, "")),
    "yaml-tag": whole('<Script name="!!python/object/apply:os.system [x]" code="a:=1"/>'),
    "yaml-break": whole('<AlwaysSuccess name="a&#10;root:&#10;  py: {class: os:system}"/>'),
    "comment-break": whole(LEAF, "<!-- x\nroot: {py: {class: 'os:system'}}\r\u2028evil: 1\x85root: 2 -->"),
    "aside-break": whole('<AlwaysSuccess _a="x&#10;root: 1&#8232;root: 2&#133;root: 3"/>'),
    "metadata-break": whole(LEAF, OWN.format(BREAKS)),
    "deep": whole("<Inverter>" * 5000 + LEAF + "</Inverter>" * 5000),
    "nested": whole("<Inverter>" * 250 + LEAF + "</Inverter>" * 250),
    "metadata-deep": whole(LEAF, OWN.format("<a>" * 240 + "</a>" * 240)),
    "wide": whole(f"<Sequence>{LEAF * 20_000}</Sequence>"),
    "trees": HEAD + many(24_000, tree(LEAF, "T#")) + "</root>",
    "chain": HEAD
    + tree('<SubTree ID="T0"/>')
    + "".join(tree(f'<SubTree ID="T{n + 1}" _autoremap="true" a="{{b}}"/>', f"T{n}") for n in range(1500))
    + "</root>",
    "globals": HEAD
    + tree('<SubTree ID="T0"/>')
    + "".join(
        tree(f'<Sequence><Script code="@g{n}:=1"/><SubTree ID="T{n + 1}"/></Sequence>', f"T{n}") for n in range(300)
    )
    + "</root>",
    "cycle": whole('<SubTree ID="N"/>', tree('<SubTree ID="M"/>', "N")),
    "stubs": whole(f"<Sequence>{many(5000, SUBTREE)}</Sequence>"),
    "nodes": whole(f"<Sequence>{many(45_000, NODE)}</Sequence>"),
    "models": whole(LEAF, f"<TreeNodesModel>{many(45_000, MODEL)}</TreeNodesModel>"),
    "attributes": whole(f"<A {many(300, ATTRIBUTE)}/>"),
    "long-script": whole(f'<Script code="{"a:=1;" * 100_000}"/>'),
    "long-sum": whole(f'<Script code="a:=1{"+1" * 100_000}"/>'),
    "brackets": whole(f'<Script code="a:={"(" * 100_000}1{")" * 100_000}"/>'),
    "raw-signs": whole(f'<AlwaysSuccess _skipIf="{"a && " * 200_000}b"/>'),
    "raw-open": HEAD + "<a b='<' " * 200_000,
    "quotes-open": HEAD + '<a b="' * 300_000,
    "comments-open": HEAD + "<!--" * 400_000,
    "comments": whole(LEAF, "<!--a-->" * 100_000),
    "text": whole("x " * 900_000 + LEAF),
    "utf16": whole(LEAF).encode("utf-16"),
    "utf7": b'<?xml version="1.0" encoding="utf-7"?>' + whole(LEAF).encode(),
    "rot13": b'<?xml version="1.0" encoding="rot13"?>' + whole(LEAF).encode(),
    "idna": b'<?xml version="1.0" encoding="idna"?>' + whole(LEAF).encode(),
    "zeros": b"\0" * 10_000,
    "numbers": whole(
        f'<Sequence><Sleep msec="1e999999"/><Foo a="1e400" b="nan" c="-inf" d="0x{"f" * 9000}"/></Sequence>'
    ),
    "case": whole(f'<Switch2 variable="{{a}}" case_1="{"9" * 90_000}" case_2="B">{LEAF * 3}</Switch2>'),
}
BESIDE = (
    File("in/link.xml", b"/etc/passwd", "link"),
    File("in/loop.xml", b"loop.xml", "link"),
    File("in/zero.xml", b"/dev/zero", "link"),
    File("in/folder.xml", kind="folder"),
)
PIPE = File("in/pipe.xml", kind="pipe")


def cases(seed: int, count: int) -> Iterator[Case]:
    """Each document by itself and as one of a folder; a seed above 0 also spoils some bytes."""
    names = list(DOCUMENTS)
    for number in range(count):
        dice = random.Random(f"xml/{seed}/{number}")
        name = names[number % len(names)]
        text = DOCUMENTS[name]
        data = text if isinstance(text, bytes) else text.encode()
        if seed or number >= 2 * len(names):
            spoilt = bytearray(data)
            for _ in range(dice.randint(1, 4)):
                spoilt[dice.randrange(len(spoilt))] = dice.randrange(256)
            data = bytes(spoilt)
        what = "in" if number // len(names) % 2 else "in/t.xml"
        files = (File("in/t.xml", data), *BESIDE, PIPE)
        yield Case(f"xml/{seed}/{number}/{name}", ("import", what, "--out", "out"), files)
