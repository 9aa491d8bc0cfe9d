#!/bin/sh
# AutoPlan's figure with one model, from the root of a checkout: rules that no training has seen, an empty plan, and what
# its rewritings reach. What is there is gone on with; the page is written when all is measured.
# For a trial: BATCHES=4 TASKS=10 PAGE=build/trial.md recipes/autoplan/measure.sh
set -e
python=${1:-python3}
kind=${KIND:-clean}
plans=build/autoplan-$kind

optimise() { # seed, folder, and what else
	seed=$1 folder=$2
	shift 2
	"$python" -m bt_runtime.cli optimise house --kind "$kind" --option hint=yes --feedback detailed \
		--steps "${STEPS:-20}" --iterations "${ITERATIONS:-3}" --patience "${ITERATIONS:-3}" \
		--validation "${VALIDATION:-8}" --test "${TASKS:-50}" --jobs 8 --model "${MODEL:-starter}" \
		--rules "eval $seed" --seed "$seed" --out "$plans/$folder" "$@"
}

for seed in ${SEEDS:-0 1 2 3 4}; do
	for batch in ${BATCHES:-2 4 8}; do
		optimise "$seed" "batch-$batch-rules-$seed" --batch "$batch"
	done
	optimise "$seed" "summary-rules-$seed" --batch 4 --no-flaw --no-revision
done
"$python" -m bt_runtime.cli optimise curve "$plans"/* --page "${PAGE:-docs/autoplan-results.md}"
