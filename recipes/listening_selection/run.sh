#!/usr/bin/env bash
# recipes/listening_selection/run.sh P835 CODECS WORK [options of auditeval listen simulate]
# Hold listening tests again on real votes, and on those of the simulated panel, by each rule of
# selection. The tables go to RESULTS, by default results/ beside this file, which the README quotes.
set -euo pipefail
recipe="$(cd "$(dirname "$0")" && pwd)"
python="${PYTHON:-$recipe/../../.venv/bin/python}"
work="$3" results="${RESULTS:-$recipe/results}"
mkdir -p "$work" "$results"

"$python" "$recipe/votes.py" "$1" "$2" "$work"
for panel in codecs p835 simulated; do
    for drawn in without with; do
        replace=$([ "$drawn" = without ] || echo --replace)
        # shellcheck disable=SC2086  # no option, or one
        "$python" -c "from auditeval.cli import main; main()" listen simulate \
            "$work/$panel.jsonl" $replace "${@:4}" -o "$work/${panel}_$drawn.md"
        cp "$work/${panel}_$drawn.md" "$results/"
    done
done
"$python" -m auditeval.report.machine "$results"
