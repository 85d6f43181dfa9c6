#!/usr/bin/env bash
# recipes/train_p835/run.sh DIR [overrides]: DIR holds labels.csv and the audio.
set -euo pipefail
cd "$(dirname "$0")/../.."
exec "${PYTHON:-.venv/bin/python}" train.py experiment=p835 data.root="$1" "${@:2}"
