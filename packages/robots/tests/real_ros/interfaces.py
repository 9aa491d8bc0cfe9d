"""Builds `nav2_msgs` and `tf2_msgs`, which have no wheel, for the Python that runs this; rosidl's generators have.

    python packages/robots/tests/real_ros/interfaces.py FOLDER

Nav2's actions are built from the definitions that bt_robots ships. Build files go into FOLDER; the packages go where
pip has put the other parts of ROS. A package that is newer than its definitions is left alone. Without cmake or a C++
compiler nothing is built, and a line says so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy

import bt_robots.ros

SHIPPED = Path(str(bt_robots.ros.__file__)).with_name("interfaces")
USED = ("geometry_msgs", "std_msgs", "builtin_interfaces", "nav_msgs")
PACKAGE = """<?xml version="1.0"?>
<package format="3">
  <name>@NAME@</name>
  <version>0.1.0</version>
  <description>Interfaces for tests.</description>
  <maintainer email="you@example.com">you</maintainer>
  <license>Apache-2.0</license>
  <buildtool_depend>rosidl_default_generators</buildtool_depend>
  @USED@
  <depend>action_msgs</depend>
  <member_of_group>rosidl_interface_packages</member_of_group>
  <export><build_type>ament_cmake</build_type></export>
</package>
"""
CMAKE = """cmake_minimum_required(VERSION 3.16)
project(@NAME@)
find_package(rosidl_default_generators REQUIRED)
foreach(package @USED@)
  find_package(${package} REQUIRED)
endforeach()
file(GLOB files RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} action/*.action msg/*.msg)
rosidl_generate_interfaces(${PROJECT_NAME} ${files} DEPENDENCIES @USED@)
ament_package()
"""


def mend_paths() -> None:
    """The wheels' exported targets name include folders of the machine that built them; names this Python's instead."""
    here = {
        "/opt/python/cp311-cp311/lib/python3.11/site-packages/numpy/_core/include": numpy.get_include(),
        "/opt/python/cp311-cp311/include/python3.11": sysconfig.get_path("include"),
    }
    for file in Path(sys.prefix, "share").glob("*/cmake/*Export.cmake"):
        text = mended = file.read_text()
        for there, path in here.items():
            mended = mended.replace(there, path)
        if mended != text:
            file.write_text(mended)


def write_sources(folder: Path, name: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    if name == "tf2_msgs":
        (folder / "msg").mkdir(parents=True)
        (folder / "msg" / "TFMessage.msg").write_text("geometry_msgs/TransformStamped[] transforms\n")
    else:
        shutil.copytree(SHIPPED / name, folder)
    depends = "\n  ".join(f"<depend>{each}</depend>" for each in USED)
    (folder / "package.xml").write_text(PACKAGE.replace("@NAME@", name).replace("@USED@", depends))
    (folder / "CMakeLists.txt").write_text(CMAKE.replace("@NAME@", name).replace("@USED@", " ".join(USED)))


def build(folder: Path, name: str) -> None:
    source, made = folder / name, folder / f"{name}-build"
    write_sources(source, name)
    prefix = sys.prefix
    env = os.environ | {"AMENT_PREFIX_PATH": prefix, "CMAKE_PREFIX_PATH": prefix}
    env["PATH"] = f"{prefix}/bin:{env['PATH']}"
    options = [f"-DCMAKE_INSTALL_PREFIX={prefix}", f"-DPython3_EXECUTABLE={sys.executable}", "-DBUILD_TESTING=OFF"]
    for command in (
        ["cmake", "-S", source, "-B", made, *options],
        ["cmake", "--build", made, "--parallel", str(os.cpu_count() or 1), "--target", "install"],
    ):
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{name} could not be built:\n{(done.stdout + done.stderr)[-3000:]}")


def current(name: str) -> bool:
    """Is the package installed, and newer than its definitions and this file?"""
    installed = Path(sys.prefix, "share", name, "package.xml")
    sources = [Path(__file__), *(SHIPPED / name).rglob("*.*")]
    return installed.is_file() and installed.stat().st_mtime > max(file.stat().st_mtime for file in sources)


def main(folder: Path) -> None:
    missing = [name for name in ("tf2_msgs", "nav2_msgs") if not current(name)]
    if missing and (shutil.which("cmake") is None or shutil.which("c++") is None):
        print(f"cmake or a C++ compiler is missing: {' and '.join(missing)} not built, their tests are skipped")
        return
    mend_paths()
    for name in missing:
        build(folder, name)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
