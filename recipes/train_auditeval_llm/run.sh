#!/usr/bin/env bash
# recipes/train_auditeval_llm/run.sh DIR BASE [overrides]: DIR holds AuditScore, BASE is a folder or hub id.
set -euo pipefail
cd "$(dirname "$0")/../.."
exec "${PYTHON:-.venv/bin/python}" train.py experiment=auditeval_llm data.root="$1" base.model="$2" "${@:3}"
