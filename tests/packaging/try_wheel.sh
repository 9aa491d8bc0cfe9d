#!/usr/bin/env bash
# Builds the wheel, installs it in an empty environment, and there, away from the checkout, uses what it carries.
# What it depends on is fetched once into .cache/wheels, so that the second time needs no network.
set -euo pipefail
python=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$(dirname "$0")/../.."
wheels=$PWD/.cache/wheels
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$python" -m build --wheel --no-isolation --outdir "$work/dist" . >"$work/build.log" 2>&1 || { cat "$work/build.log"; exit 1; }
wheel=$(ls "$work"/dist/*.whl)
echo "built $(basename "$wheel"), $(du -k "$wheel" | cut -f1) kB"

"$python" -m venv "$work/venv"
fresh=$work/venv/bin/python
offline() { "$fresh" -m pip install --quiet --disable-pip-version-check --no-index --find-links "$wheels" "$wheel" 2>/dev/null; }
if ! { [ -d "$wheels" ] && offline; }; then
    mkdir -p "$wheels"
    "$fresh" -m pip wheel --quiet --disable-pip-version-check --wheel-dir "$wheels" "$wheel"
    rm -f "$wheels"/bt_runtime-*.whl
    offline
fi

mkdir "$work/elsewhere" && cd "$work/elsewhere"
unset BTR_PROJECT PYTHONPATH
btr=$work/venv/bin/btr
shipped=$("$fresh" -c 'from bt_runtime.project import packaged; print(packaged("trees"))')
case $shipped in "$work"/venv/*) ;; *) echo "content is looked for in $shipped, outside the wheel"; exit 1 ;; esac
"$btr" doctor
"$btr" validate "$shipped"
"$btr" run greet --set guest=Ada --set times=2 --json
"$btr" explain >/dev/null
"$btr" demo --engine
{ "$btr" demo 2>&1 || true; } | grep -e '--engine'  # nothing optional is installed here: it says what to do
"$btr" init robot && cd robot && "$btr" validate --strict && "$btr" schema --check && "$btr" run main
echo "the wheel works away from the checkout"
