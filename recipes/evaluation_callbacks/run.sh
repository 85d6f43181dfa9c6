#!/usr/bin/env bash
# recipes/evaluation_callbacks/run.sh WORK: benchmarks while an evaluator and an editor are trained.
# WORK/material may hold train.csv, test.csv and noise.csv of your own (material.py says what they are).
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

[ -e "$work/material" ] || "$python" "$recipe/material.py" "$work/material"
noise=(--noise "$work/material/noise.csv")
bench make-speecheditbench "$work/material/train.csv" "${noise[@]}" --kind enhancement --samples 8 \
    -o "$work/train"
bench make-speecheditbench "$work/material/test.csv" "${noise[@]}" --kind enhancement --samples 8 \
    -o "$work/enhancement"
bench make-speecheditbench "$work/material/test.csv" "${noise[@]}" --kind enhancement --kind speed \
    --kind pitch --samples 4 -o "$work/speech"
bench make-salmon "$work/material/test.csv" "${noise[@]}" --part rir_consistency \
    --part bg_all_consistency --samples 20 -o "$work/salmon"

# Verdicts of four systems, recorded once.
"$python" "$recipe/systems.py" "$work/speech" "$work/outputs"
systems=() outputs=()
for system in able hasty deaf hissing; do
    systems+=(-s "$system=$work/outputs/$system")
    outputs+=("$system: $work/outputs/$system")
done
bench speecheditbench "$work/speech" "${systems[@]}" -o "$work/verdicts"

# An evaluator on synthesised sounds, beside what the benchmarks say of it in every epoch.
metrics=callbacks.evaluation.metrics
"$python" train.py run_dir="$work/evaluator" compare=none data.simulation.scenes=80 \
    data.simulation.seconds=3.0 data.split.validation_share=0.2 \
    'fit.epochs={quality: 8, relevance: 8, faithfulness: 8}' callbacks=benchmarks \
    "$metrics.verdicts.samples=$work/speech" "$metrics.verdicts.run=$work/verdicts" \
    "$metrics.verdicts.systems={$(IFS=,; echo "${outputs[*]}")}" \
    "$metrics.salmon.root=$work/salmon"

# An editor, the benchmark every five epochs.
"$python" "$recipe/editor.py" "$work"

cp "$work/evaluator/report/evaluation.md" "$results/evaluator.md"
cp "$work/editor/evaluation.md" "$results/editor.md"
cp "$work/evaluator/report/machine.md" "$results/"
