#!/usr/bin/env bash
# recipes/filter_mixed/run.sh CLIPS.csv WORK [options of auditeval metrics]
# Build a set from labelled clips, score it, filter it, and compare what is left with random parts.
# BUILD: options of auditeval build; CHECKPOINT: the evaluator, default the one that ships. The tables
# go to RESULTS, by default results/ beside this file, which the README quotes.
set -euo pipefail
recipe="$(cd "$(dirname "$0")" && pwd)"
python="${PYTHON:-$recipe/../../.venv/bin/python}"
clips="$1" work="$2" results="${RESULTS:-$recipe/results}"
mkdir -p "$results"

run() {
    # Status 1 says that single clips or pairs could not be used; the rest is whole.
    "$python" -c "from auditeval.cli import main; main()" "$@" || [ $? -eq 1 ]
}

# shellcheck disable=SC2086  # several options in one variable
run build --clips "$clips" --audio virtual ${BUILD:-} -o "$work/mixed"
run score "$work/mixed/manifest.jsonl" ${CHECKPOINT:+--checkpoint "$CHECKPOINT"} -o "$work/scores.csv"
for part in random1 random2 random3 filtered; do
    run filter "$work/mixed/manifest.jsonl" "$work/scores.csv" \
        --recipe "$recipe/$part.yaml" -o "$work/$part.jsonl"
done
run metrics "$work"/{random1,random2,random3,filtered}.jsonl "${@:3}" -o "$work/report"

# By operation: no edit meets its reverse there.
parts=()
for operation in add delete replace; do
    for part in random1 filtered; do
        cut="$work/${part}_$operation.jsonl"
        grep -E "\"operation\": ?\"$operation\"" "$work/$part.jsonl" > "$cut"
        parts+=("$cut")
    done
done
run metrics "${parts[@]}" "${@:3}" -o "$work/report/by_operation"

cp "$work/filtered.filter.md" "$results/stages.md"
cp "$work/report/data_quality.md" "$results/"
cp "$work/report/by_operation/data_quality.md" "$results/by_operation.md"
"$python" -m auditeval.report.machine "$results"
