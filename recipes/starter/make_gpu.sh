#!/bin/sh
# A larger starter, from the root of a checkout on a machine with a GPU; what is there is gone on with. A machine that is
# lent for minutes takes the same steps one by one: carry the parcel there, run a slice, bring weights.pt back.
set -e
python=${1:-python3}
parcel=${PARCEL:-build/starter-gpu}
lessons=${LESSONS:-drills:4000 house:15000 lookups:60000 textcraft:120000 guided:2000 trials:20000 judged:20000 alfworld:30000 thor:7000 arm:20000 panel:10000 webshop:12000 hotpotqa:14000}
minutes=${MINUTES:-30}
# shellcheck disable=SC2086
"$python" -m recipes.starter $lessons --seed 5 --out build/lessons-gpu
test -f "$parcel/lessons.tar.xz" || "$python" -m recipes.starter.gpu pack build/lessons-gpu --parcel "$parcel"
slice=${SLICE:-8.5}
for _ in $(seq "$(echo "$minutes $slice" | awk '{print int($1 / $2 + 0.999)}')"); do
	"$python" -m recipes.starter.gpu slice --parcel "$parcel" --minutes "$minutes" --slice "$slice" ${OPTIONS:-}
done
"$python" -m recipes.starter.gpu file --parcel "$parcel" --out build/starter-gpu.gguf
