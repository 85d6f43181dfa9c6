#!/usr/bin/env bash
# recipes/listening_test/run.sh WORK: twenty edits, three simulated raters in real browsers, their
# votes as a manifest, an evaluator trained on them and reported. SECONDS_A_CLIP is the length of a
# clip, ESC10 a folder of recordings in place of synthesised sounds. What the README quotes goes to
# RESULTS, by default results/ beside this file, the pictures to PICTURES, by default beside it too.
# DESIGN: other settings of the test; RESAMPLES: draws of the intervals; SCENES: five edits are of
# each, four for the README; EPOCHS: of each axis, for a training that is to be short.
set -euo pipefail
recipe="$(cd "$(dirname "$0")" && pwd)"
mkdir -p "$1" "${RESULTS:=$recipe/results}" "${PICTURES:=$recipe}"
work="$(cd "$1" && pwd)" results="$(cd "$RESULTS" && pwd)" pictures="$(cd "$PICTURES" && pwd)"
cd "$recipe/../.."
python="${PYTHON:-.venv/bin/python}"
export OMP_NUM_THREADS=1 PYTHONPATH="$PWD"

auditeval() {
    "$python" -c "from auditeval.cli import main; main()" "$@"
}

"$python" "$recipe/pairs.py" "$work" "${SECONDS_A_CLIP:-2.5}" "${SCENES:-4}" ${ESC10:+"$ESC10"}

# The test: in a process of its own until the last rater is done.
"$python" -c "from auditeval.cli import main; main()" listen "$work/edits.jsonl" \
    --votes "$work/votes.db" --settings "${DESIGN:-$recipe/design.yaml}" --raters 3 --port 0 \
    > "$work/served.txt" &
server=$!
trap 'kill $server 2> /dev/null || true' EXIT
until grep -q ^serving "$work/served.txt"; do
    kill -0 $server
    sleep 0.2
done
"$python" "$recipe/raters.py" "$work" "$work/served.txt" "$pictures"

auditeval listen status "$work/votes.db"
auditeval listen screen "$work/votes.db"
auditeval listen export "$work/votes.db" -o "$work/rated.jsonl" --screen p808 --screen bt500

# What the votes are for.
"$python" train.py data=manifest data.path="$work/rated.jsonl" data.split.test_share=0.25 \
    data.split.validation_share=0 'features=[spectrum,words]' compare=none fit=heads run_dir="$work/run" \
    ${EPOCHS:+"fit.epochs={quality: $EPOCHS, relevance: $EPOCHS, faithfulness: $EPOCHS}"}
auditeval score "$work/rated.jsonl" -c "$work/run/pairwise/holdout/checkpoint" -o "$work/scores.csv"
auditeval evaluate "$work/scores.csv" --against "$work/rated.jsonl" -o "$work/report" \
    --resamples "${RESAMPLES:-1000}"
auditeval describe "$work/rated.jsonl" -o "$work/description" --resamples "${RESAMPLES:-1000}"

cp "$work/description/description.md" "$results/votes.md"
"$python" -m auditeval.report.machine "$results"
