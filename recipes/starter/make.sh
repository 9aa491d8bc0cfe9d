#!/bin/sh
# The starter model anew, from the root of a checkout: lessons, training, file. What is there is gone on with.
# The weights that come with the package were made like this; see packages/starter/bt_starter/starter/README.md
set -e
python=${1:-python3}
"$python" -m recipes.starter drills:1800 house:1900 lookups:6500 textcraft:9000 guided:640 trials:2100 judged:2800 rooms-tried:400 held:800 \
	alfworld:5000 thor:600 arm:6200 panel:3000 webshop:1200 hotpotqa:1400 facts:2000 --seed 3 --out build/lessons
"$python" -m bt_runtime.cli lab distill --from build/lessons --minutes "${MINUTES:-240}" \
	--processes "${PROCESSES:-$(nproc 2>/dev/null || echo 1)}" --context 8192 --batch 16384 --rate 0.0015 --fall 0.9 --echo 0.12 \
	--seed 3 --quantise f16 --out build/starter.gguf
