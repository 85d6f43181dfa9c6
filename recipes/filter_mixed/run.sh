#!/usr/bin/env bash
# recipes/filter_mixed/run.sh CLIPS.csv WORK [options of auditeval metrics]
# Build a set from labelled clips, score it, filter it, and compare what is left with random parts.
# BUILD: options of auditeval build; CHECKPOINT: the evaluator, default the one that ships.
set -euo pipefail
recipe="$(cd "$(dirname "$0")" && pwd)"
auditeval="${AUDITEVAL:-$recipe/../../.venv/bin/auditeval}"
clips="$1" work="$2"

run() {
    # Status 1 says that single clips or pairs could not be used; the rest is whole.
    "$auditeval" "$@" || [ $? -eq 1 ]
}

# shellcheck disable=SC2086  # several options in one variable
run build --clips "$clips" --audio virtual ${BUILD:-} -o "$work/mixed"
run score "$work/mixed/manifest.jsonl" ${CHECKPOINT:+--checkpoint "$CHECKPOINT"} -o "$work/scores.csv"
for part in random1 random2 random3 filtered; do
    run filter "$work/mixed/manifest.jsonl" "$work/scores.csv" \
        --recipe "$recipe/$part.yaml" -o "$work/$part.jsonl"
done
run metrics "$work"/{random1,random2,random3,filtered}.jsonl "${@:3}" -o "$work/report"
