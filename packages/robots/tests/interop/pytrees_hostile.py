"""Python sources that are meant to do harm: each with words of its fault, or with none when it is read."""

from __future__ import annotations

ROOT = "import py_trees\n\n\ndef create_root():\n    return py_trees.composites."
PLAIN = f"{ROOT}Sequence('s', True)\n"
HOSTILE = {
    "a syntax error": ("def create_root(:\n    pass\n", "robot.py:1:17: this is no Python that can be read"),
    "Python 2": ("print 'x'\n", "robot.py:1:1: this is no Python that can be read"),
    "null bytes": ("x = 1\0\n", "robot.py:1:1: this is no Python that can be read"),
    "nested brackets": ("x = " + "(" * 50_000 + ")" * 50_000 + "\n", "robot.py:1:"),
    "nested calls": ("x = " + "f(" * 190 + ")" * 190 + "\n" + PLAIN, ""),
    "a long sum": ("x = " + "1+" * 50_000 + "1\n", "robot.py:1:"),
    "many signs": ("x = " + "-" * 50_000 + "1\n", "robot.py:1:"),
    "a factory that calls itself": ("import py_trees\ndef f():\n    return f()\n", "robot.py:3:12: calls or brackets"),
    "factories that call each other": (
        "import py_trees\ndef f(n):\n    return py_trees.composites.Sequence('s', True, [g(n)])\n"
        "def g(n):\n    return f(n + 1)\n",
        "calls or brackets are nested too deeply",
    ),
    "an endless loop": (f"while True:\n    x = 1\n{PLAIN}", ""),
    "a list of 10**9": (f"x = [0] * 10**9\n{PLAIN}", "robot.py:1:5: this makes a list of"),
    "a text of 10**9": (f"x = 'a' * 10**9\n{PLAIN}", "robot.py:1:5: this makes a text of"),
    "a range of 10**9": (
        ROOT + "Sequence('s', True, [py_trees.behaviours.Success(str(n)) for n in range(10**9)])\n",
        "robot.py:5:98: this makes a list of 1,000,000,000 items",
    ),
    "a power": (f"x = 9 ** 9 ** 9 ** 9\n{PLAIN}", ""),
    "a shift": (f"x = 1 << 10**12\n{PLAIN}", ""),
    "a width": (f"x = f'{{1:999999999}}' + '%999999999d' % 1 + '{{:999999999}}'.format(1)\n{PLAIN}", ""),
    "a list that doubles": ("x = [1]\n" + "x = x + x\n" * 30, "this makes a list of"),
    "a list of lists": ("x = [1]\n" + "x = [x, x]\n" * 40 + f"y = x == [x]; z = str(x)\n{PLAIN}", ""),
    "loops in loops": (
        "for a in range(9000):\n  for b in range(9000):\n    for c in range(9000):\n      d = 1\n",
        "takes more than 300,000 steps",
    ),
    "a node within itself": (
        "import py_trees\nroot = py_trees.composites.Sequence('s', True)\nroot.add_child(root)\n",
        "",
    ),
    "a node twice": (
        "import py_trees\na = py_trees.behaviours.Dummy('a')\nroot = py_trees.composites.Sequence('s', True, [a, a])\n",
        "",
    ),
    "nodes within each other": (
        "import py_trees\nx = py_trees.behaviours.Success('a')\nfor n in range(500):\n"
        "    x = py_trees.decorators.Inverter('i', x)\n",
        "nodes stand more than 100 deep",
    ),
    "a number without an end": (
        "import py_trees\nclass A(py_trees.behaviour.Behaviour):\n    def __init__(self, a=float('inf'), "
        "b=1e999): pass\n"
        "root = py_trees.composites.Sequence('s', True, [A(), A(2), py_trees.timers.Timer('t', -1)])\n",
        "",
    ),
    "a long docstring": (
        "import py_trees\nclass A(py_trees.behaviour.Behaviour):\n    '" + ":a" * 100_000 + "'\n"
        "root = py_trees.composites.Sequence('s', True, [A()])\n",
        "",
    ),
    "no tree": ("import py_trees\nprint('x')\n", "builds no tree of py_trees"),
    "an import of itself": (f"import robot\nfrom robot import *\n{PLAIN}", ""),
    "an import upward": (f"from ..... import x\nfrom .. import y\nimport os.path\n{PLAIN}", ""),
    "a metaclass": (f"class A(A): pass\nclass B(type, metaclass=B): pass\nB()\n{PLAIN}", ""),
    "names for YAML": (ROOT + "Sequence('x\\nroot: {py: os}', True, [py_trees.timers.Timer('\\u2028!!a', 1)])\n", ""),
    "docstrings for Python": (
        "import py_trees\nclass A(py_trees.behaviour.Behaviour):\n    '''x\"\"\"\\nopen(\"pwned\", \"w\")'''\n"
        "    def __init__(self, a='\"\"\"\\nopen(1)'): pass\n"
        "root = py_trees.composites.Sequence('s', True, [A()])\n",
        "",
    ),
}  # fmt: skip
