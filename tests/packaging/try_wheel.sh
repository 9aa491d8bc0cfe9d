#!/usr/bin/env bash
# Builds the wheels of the workspace, installs them in empty environments, and there, away from the checkout, uses what
# they carry: the runtime alone, then with the others. What they depend on is fetched once into .cache/wheels, so that the
# second time needs no network.
set -euo pipefail
python=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$(dirname "$0")/../.."
wheels=$PWD/.cache/wheels
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for folder in . envs packages/*; do
    "$python" -m build --wheel --no-isolation --outdir "$work/dist" "$folder" >"$work/build.log" 2>&1 || { cat "$work/build.log"; exit 1; }
done
for wheel in "$work"/dist/*.whl; do echo "built $(basename "$wheel"), $(du -k "$wheel" | cut -f1) kB"; done

# install NAME WHAT: an empty environment with this; wheels that are missing are fetched
install() {
    "$python" -m venv "$work/$1"
    local fresh=$work/$1/bin/python
    offline() { "$fresh" -m pip install --quiet --disable-pip-version-check --no-index --find-links "$work/dist" --find-links "$wheels" "$2" 2>/dev/null; }
    if ! { [ -d "$wheels" ] && offline "$@"; }; then
        mkdir -p "$wheels"
        "$fresh" -m pip wheel --quiet --disable-pip-version-check --find-links "$work/dist" --wheel-dir "$wheels" "$2"
        rm -f "$wheels"/bt_*.whl
        offline "$@"
    fi
    echo "$2: $(du -sm "$work/$1/lib"/python*/site-packages | cut -f1) MB with pip, $(ls -d "$work/$1/lib"/python*/site-packages/*.dist-info | wc -l) packages"
}

install alone bt_runtime
mkdir "$work/elsewhere" && cd "$work/elsewhere"
unset BTR_PROJECT PYTHONPATH
btr=$work/alone/bin/btr
shipped=$("$work/alone/bin/python" -c 'from bt_runtime.language.project import packaged; print(packaged("trees"))')
case $shipped in "$work"/alone/*) ;; *) echo "content is looked for in $shipped, outside the wheel"; exit 1 ;; esac
"$btr" doctor
"$btr" validate "$shipped"
"$btr" run greet --set guest=Ada --set times=2 --json
"$btr" explain >/dev/null
"$btr" demo --engine
{ "$btr" demo 2>&1 || true; } | grep -e '--engine'  # nothing optional is installed here: it says what to do
for command in "check greet" "edit" "new tree x" "skills" "fleet ls" "lab eval house" "lab play house" "serve lsp" \
    "serve mcp" "import x.xml" "export greet" "run greet --env house" "run react --model starter"; do
    said=$("$btr" $command 2>&1) && { echo "btr $command: it should have said what is missing"; exit 1; }
    grep -q "bt_runtime\[" <<<"$said" || { echo "btr $command: $said"; exit 1; }
    echo "btr $command: $(head -1 <<<"$said")"
done
"$btr" init robot && cd robot && "$btr" validate --strict && "$btr" config schema --check && "$btr" run main

cd "$work/elsewhere"
install all "bt_runtime[author,robots,lab,envs,starter]"
btr=$work/all/bin/btr
"$btr" check greet --always true
"$btr" export greet --for-viewing --output greet.xml 2>/dev/null && head -2 greet.xml
"$btr" lab tasks house --count 1
(cd robot && "$btr" new tree fresh)
echo "the wheels work away from the checkout"
