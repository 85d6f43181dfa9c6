#!/usr/bin/env bash
# recipes/benchmarks/run.sh WORK: the four benchmarks in miniature, each by one command at the end.
# The tables go to RESULTS, by default results/ beside this file, which the README quotes.
set -euo pipefail
recipe="$(cd "$(dirname "$0")" && pwd)"
mkdir -p "$1"
work="$(cd "$1" && pwd)" results="${RESULTS:-$recipe/results}"
mkdir -p "$results"
results="$(cd "$results" && pwd)"
cd "$recipe/../.."
python="${PYTHON:-.venv/bin/python}"
export OMP_NUM_THREADS=1 PYTHONPATH="$PWD"

bench() {
    "$python" -c "from auditeval.cli import main; main()" bench "$@"
}

made="$recipe/../evaluation_callbacks"
[ -e "$work/material" ] || "$python" "$made/material.py" "$work/material"
noise=(--noise "$work/material/noise.csv")
bench make-speecheditbench "$work/material/test.csv" "${noise[@]}" --kind enhancement --kind speed \
    --kind pitch --samples 2 -o "$work/speecheditbench"
"$python" "$made/systems.py" "$work/speecheditbench" "$work/speecheditbench/outputs"
bench make-salmon "$work/material/test.csv" "${noise[@]}" --part rir_consistency \
    --part bg_all_consistency --samples 10 -o "$work/salmon"
[ -e "$work/mmae" ] || "$python" "$recipe/miniatures.py" "$work/material" "$work"

outputs="$work/speecheditbench/outputs"
bench speecheditbench "$work/speecheditbench" -s able="$outputs/able" -s hasty="$outputs/hasty" \
    --baselines --protocol both -o "$work/report/speecheditbench"
bench mmae "$work/mmae/MMAE-meta.json" -s able="$work/mmae/outputs/able" \
    -s deaf="$work/mmae/outputs/deaf" --baselines --judge "$work/mmae/answers.jsonl" \
    -o "$work/report/mmae"
bench swanbench "$work/swanbench/mono_speaker.jsonl" "$work/swanbench/two_speaker.jsonl" \
    -s voices="$work/swanbench/outputs/voices" -s one_voice="$work/swanbench/outputs/one_voice" \
    --baselines -o "$work/report/swanbench"
bench salmon "$work/salmon" -c checkpoints/auditeval-offline --baselines -o "$work/report/salmon"

for name in speecheditbench mmae swanbench salmon; do
    cp "$work/report/$name/$name.md" "$results/"
done
"$python" -m auditeval.report.machine "$results"
