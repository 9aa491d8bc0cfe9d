from pathlib import Path

from setuptools import setup

NAME = "robot_tree"
SHARE = f"share/{NAME}"


def below(folder: str, *suffixes: str) -> list[tuple[str, list[str]]]:
    """Returns where each file of a folder, and of those below it, is installed."""
    found = sorted(path for path in Path(folder).rglob("*") if path.suffix in suffixes)
    return [(f"{SHARE}/{path.parent.as_posix()}", [str(path)]) for path in found]


setup(
    name=NAME,
    version="0.1.0",
    packages=[NAME],
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (SHARE, ["package.xml", "btr.yaml"]),
        *below("launch", ".py"),
        *below("trees", ".yaml"),
        *below("skills", ".yaml", ".py"),
    ],
    install_requires=["setuptools", "bt_runtime"],
    entry_points={"console_scripts": [f"node = {NAME}.node:main"]},
)
