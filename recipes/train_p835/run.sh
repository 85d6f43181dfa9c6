#!/usr/bin/env bash
# recipes/train_p835/run.sh DIR RUN [overrides]: DIR holds labels.csv and the audio, RUN is the run
# folder. The table goes to RESULTS, by default results/ beside this file, which the README quotes.
set -euo pipefail
results="${RESULTS:-$(dirname "$0")/results}"
mkdir -p "$2" "$results"
data="$(cd "$1" && pwd)" run="$(cd "$2" && pwd)" results="$(cd "$results" && pwd)"
cd "$(dirname "$0")/../.."
"${PYTHON:-.venv/bin/python}" train.py experiment=p835 data.root="$data" run_dir="$run" "${@:3}"
cp "$run/report/agreement.md" "$results/p835.md"
cp "$run/report/machine.md" "$results/"
