#!/usr/bin/env bash
# recipes/train_auditscore/run.sh DIR CLAP [overrides]: DIR holds AuditScore, CLAP is a file, folder or hub id.
set -euo pipefail
cd "$(dirname "$0")/../.."
exec "${PYTHON:-.venv/bin/python}" train.py experiment=auditeval_ssl data.root="$1" features.clap.model="$2" "${@:3}"
