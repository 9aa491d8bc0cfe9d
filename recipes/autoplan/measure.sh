#!/bin/sh
# AutoPlan's figure with one model, from the root of a checkout: rules that no training has seen, an empty plan, and what
# its rewritings reach. What is there is gone on with; the page is written when all is measured.
# ABLATE=yes adds a batch of 4 without flaw and revision. For a trial: SEEDS=0 HOUSES=0 TASKS=10 PAGE=build/trial.md recipes/autoplan/measure.sh
set -e
python=${1:-python3}
kind=${KIND:-clean}
plans=build/autoplan-$kind

optimise() { # the run's seed, folder, further options; in $house. sh has no local variables: $seed is the loop's
	run=$1 folder=$2
	shift 2
	"$python" -m bt_runtime.cli lab optimise house --kind "$kind" --option hint=yes --feedback detailed \
		--steps "${STEPS:-20}" --iterations "${ITERATIONS:-3}" --patience "${ITERATIONS:-3}" \
		--validation "${VALIDATION:-16}" --test "${TASKS:-20}" --jobs 8 --model "${MODEL:-starter}" \
		--rules "eval $house" --seed "$run" --out "$plans/$folder" "$@"
}

for seed in ${SEEDS:-0 1 2 3 4}; do
	for house in ${HOUSES:-0 1 2 3 4 5 6 7}; do # as many as there are rules to clean by: each house has another
		for batch in ${BATCHES:-4}; do
			optimise "$((seed * 100 + house))" "batch-$batch-rules-$house-seed-$seed" --batch "$batch"
		done
		[ -z "$ABLATE" ] || optimise "$((seed * 100 + house))" "summary-rules-$house-seed-$seed" --batch 4 --no-flaw --no-revision
	done
done
"$python" -m bt_runtime.cli lab optimise curve "$plans"/* --page "${PAGE:-$plans/results.md}"
