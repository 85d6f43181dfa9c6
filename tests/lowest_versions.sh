#!/usr/bin/env bash
# The tests with the lowest versions that pyproject.toml allows of what auditeval itself imports (of
# transformers the lowest that is not for the original packages alone), and the newest of all else
# that tests need: in .venv-lowest (or $VENV), which uv makes. PYTHON chooses the interpreter.
# Arguments are pytest's: tests/lowest_versions.sh tests/cli
set -euo pipefail
cd "$(dirname "$0")/.."
export VIRTUAL_ENV="$PWD/.venv-lowest"
[ -z "${VENV:-}" ] || VIRTUAL_ENV="$(mkdir -p "$VENV" && cd "$VENV" && pwd)"
uv venv --quiet --allow-existing --python "${PYTHON:-python3}" "$VIRTUAL_ENV"
uv pip install --quiet --resolution lowest-direct --editable . 'transformers>=5.18'
uv pip freeze --exclude-editable >"$VIRTUAL_ENV/lowest.txt"
uv pip install --quiet --constraint "$VIRTUAL_ENV/lowest.txt" --editable '.[dev]'
uv pip install --quiet --no-deps --requirement requirements-no-deps.txt
"$VIRTUAL_ENV/bin/python" -m pytest -n 2 --dist loadfile "$@"
