from pathlib import Path

from setuptools import setup

NAME = "robot_tree"
SHARE = f"share/{NAME}"


def those(folder: str, pattern: str) -> list[str]:
    return [str(path) for path in sorted(Path(folder).glob(pattern))]


setup(
    name=NAME,
    version="0.1.0",
    packages=[NAME],
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (SHARE, ["package.xml", "btr.yaml"]),
        (f"{SHARE}/launch", those("launch", "*.py")),
        (f"{SHARE}/trees", those("trees", "*.yaml")),
        (f"{SHARE}/skills", those("skills", "*.yaml")),
    ],
    install_requires=["setuptools", "bt_runtime"],
    entry_points={"console_scripts": [f"node = {NAME}.node:main"]},
)
