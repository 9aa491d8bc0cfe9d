from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONTENT = ("trees", "skills", "memory", "guides", "schemas")
FOLDERS = {"bt_runtime": ROOT, "bt_envs": ROOT / "envs", **{f.name: f.parent for f in ROOT.glob("packages/*/bt_*")}}


def built(folder: Path, out: Path) -> Path:
    """The wheel of a folder of the workspace, built without a network."""
    pytest.importorskip("build")
    pytest.importorskip("hatchling")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(folder)]
    subprocess.run(command, check=True, capture_output=True)
    return next(out.glob("*.whl"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(ROOT, tmp_path_factory.mktemp("dist"))


def test_the_wheel_installs_one_import_name_and_carries_its_content(wheel: Path) -> None:
    """No generic top-level module is ever installed, and each file of the content folders is inside."""
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {t for t in tops if not t.endswith(".dist-info")} == {"bt_runtime"}
    tracked = [p for f in CONTENT for p in (ROOT / f).rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    assert not [p for p in tracked if f"bt_runtime/_content/{p.relative_to(ROOT).as_posix()}" not in names]
    assert "bt_runtime/py.typed" in names
    assert "bt_runtime/language/project/init/example-projects/start/trees/main.yaml" in names
    assert "bt_runtime/language/faults/explain/BT001.md" in names


@pytest.mark.parametrize("name", [name for name in FOLDERS if name != "bt_runtime"])
def test_each_other_wheel_carries_all_of_its_folder_under_one_name(name: str, tmp_path: Path) -> None:
    """Code, what lies between the code, and the content of worlds; no test, and nothing of another wheel."""
    names = zipfile.ZipFile(built(FOLDERS[name], tmp_path)).namelist()
    assert {n.split("/")[0] for n in names if ".dist-info/" not in n} == {name}
    inside = [p for p in (FOLDERS[name] / name).rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    assert not [p for p in inside if p.relative_to(FOLDERS[name]).as_posix() not in names]
    if name == "bt_envs":
        content = [p for p in (ROOT / "envs").glob("*/*.yaml") if p.is_file()]
        assert content and not [p for p in content if f"bt_envs/_content/{p.relative_to(ROOT)}" not in names]
    if name == "bt_starter":
        assert {"bt_starter/starter/starter.gguf", "bt_starter/tuned/smollm2-tuned.gguf"} <= {*names}


def test_two_builds_are_the_same_byte_by_byte(tmp_path: Path) -> None:
    """In another folder, with files of another day; `make release` compares all of them."""
    other = Path(shutil.copytree(FOLDERS["bt_robots"], tmp_path / "elsewhere"))
    for path in other.rglob("*"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    one, two = built(FOLDERS["bt_robots"], tmp_path / "one"), built(other, tmp_path / "two")
    assert one.name == two.name and one.read_bytes() == two.read_bytes()


def test_all_wheels_have_one_version() -> None:
    done = subprocess.run([sys.executable, str(ROOT / ".ci" / "version.py")], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_unpacked_wheel_finds_its_content_and_runs_a_shipped_tree(wheel: Path, tmp_path: Path) -> None:
    """Away from the checkout, with nothing of it on the path."""
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    env = {k: v for k, v in os.environ.items() if not k.startswith("BTR_")} | {"PYTHONPATH": str(tmp_path / "site")}

    def btr(*words: str) -> str:
        command = [sys.executable, "-P", "-m", "bt_runtime.cli", *words]
        done = subprocess.run(command, cwd=elsewhere, env=env, capture_output=True, text=True, check=True)
        return done.stdout

    where = "from bt_runtime.language.project import packaged; print(packaged('trees'))"
    found = subprocess.run([sys.executable, "-P", "-c", where], cwd=elsewhere, env=env, capture_output=True, text=True)
    assert found.stdout.strip() == str(tmp_path / "site" / "bt_runtime" / "_content" / "trees")
    assert btr("run", "greet", "--set", "times=1") == "SUCCESS\ngreeted: 1\n"
    btr("validate", str(tmp_path / "site" / "bt_runtime" / "_content" / "trees"), "--strict")


def test_importing_the_package_loads_no_extra() -> None:
    """`import bt_runtime` is light: nothing that an extra installs, not even py_trees."""
    heavy = ("llama_cpp", "llguidance", "numpy", "faiss", "torch", "sentence_transformers", "ai2thor", "msgpack",
             "starlette", "uvicorn", "matplotlib", "ray", "mcap", "mujoco", "py_trees", "yaml")  # fmt: skip
    code = f"import sys, bt_runtime; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
