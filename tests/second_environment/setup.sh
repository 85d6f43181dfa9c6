#!/usr/bin/env bash
# Makes .venv-originals (or the folder in $VENV) with the original CLAP packages, and auditeval
# without its own pins. PYTHON chooses the interpreter (3.11).
set -euo pipefail
cd "$(dirname "$0")/../.."
venv="${VENV:-.venv-originals}"
if [ ! -x "$venv/bin/python" ]; then
    "${PYTHON:-python3}" -m venv "$venv"
fi
"$venv/bin/python" -m pip install --quiet --requirement tests/second_environment/requirements.txt
"$venv/bin/python" -m pip check
# What auditeval itself needs is pinned there too.
"$venv/bin/python" -m pip install --quiet --no-deps --editable .
