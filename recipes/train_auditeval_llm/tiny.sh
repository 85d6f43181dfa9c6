#!/usr/bin/env bash
# recipes/train_auditeval_llm/tiny.sh RUN: the path on a random base with a small vocabulary. RUN is the
# run folder; the table goes to RESULTS, by default results/ beside this file, which the README quotes.
set -euo pipefail
results="${RESULTS:-$(dirname "$0")/results}"
mkdir -p "$1" "$results"
run="$(cd "$1" && pwd)" results="$(cd "$results" && pwd)"
cd "$(dirname "$0")/../.."
"${PYTHON:-.venv/bin/python}" train.py experiment=auditeval_llm_tiny run_dir="$run" \
    base.make.vocabulary=trained
cp "$run/report/agreement.md" "$results/tiny.md"
cp "$run/report/machine.md" "$results/"
