#!/usr/bin/env bash
# recipes/report/run.sh WORK [score|evaluate|filter|bench|train|votes ...]: six results of this project,
# each as a page WORK/<name>.html, from a fresh clone; without a name all of them. P835 is the folder of
# noisy speech with human ratings (recipes/train_p835): evaluate and train learn from it, and where there
# is none from simulated ratings. Pages are opened in a browser, looked through and photographed: pictures
# of two go to PICTURES, by default beside this file. EPOCHS: of training. CLIPS: labelled sounds
# (recipes/filter_mixed), from which filter builds its set; BUILD: options of that.
set -euo pipefail
recipe="$(cd "$(dirname "$0")" && pwd)"
mkdir -p "$1" "${PICTURES:=$recipe}"
work="$(cd "$1" && pwd)" pictures="$(cd "$PICTURES" && pwd)"
names=("${@:2}")
[ ${#names[@]} -gt 0 ] || names=(score evaluate filter bench train votes)
p835="${P835:+$(cd "$P835" && pwd)}"
cd "$recipe/../.."
export PYTHON="${PYTHON:-.venv/bin/python}" OMP_NUM_THREADS=1 PYTHONPATH="$PWD"

auditeval() {
    "$PYTHON" -c "from auditeval.cli import main; main()" "$@"
}
edits() { # twenty simulated edits by twelve editors
    [ -e "$work/edits/edits.jsonl" ] || "$PYTHON" recipes/listening_test/pairs.py "$work/edits" 2.5 4
    auditeval score "$work/edits/edits.jsonl" -o "$work/edits/scores.csv"
}
train() {
    local epochs="${EPOCHS:-40}" data=(compare=none)
    [ -z "$p835" ] || data=(experiment=p835 "data.root=$p835")
    "$PYTHON" train.py "${data[@]}" run_dir="$work/run" html=true \
        "fit.epochs={quality: $epochs, relevance: $epochs, faithfulness: $epochs}"
}
of_score() {
    edits
    auditeval report "$work/edits/scores.csv" --manifest "$work/edits/edits.jsonl" -o "$work/score.html"
}
of_evaluate() { # the evaluator that ships, on people
    if [ -n "$p835" ]; then
        auditeval import p835 "$p835" -o "$work/people.jsonl" --force
    else
        train && cp "$work/run/held_out.jsonl" "$work/people.jsonl"
    fi
    auditeval score "$work/people.jsonl" -o "$work/people.csv"
    auditeval evaluate "$work/people.csv" --against "$work/people.jsonl" --split all \
        -o "$work/evaluation" --html "$work/evaluate.html"
}
of_filter() { # of sounds of your own or, where CLIPS names none, of the twenty edits
    if [ -n "${CLIPS:-}" ]; then
        RESULTS="$work/results" recipes/filter_mixed/run.sh "$CLIPS" "$work/mixed"
        auditeval report "$work/mixed/filtered.jsonl" -o "$work/filter.html"
        return
    fi
    edits
    auditeval filter "$work/edits/edits.jsonl" "$work/edits/scores.csv" --html "$work/filter.html" \
        --recipe recipes/filter_mixed/filtered.yaml -o "$work/filtered/kept.jsonl"
}
of_bench() { # SpeechEditBench in miniature: two systems and the baselines
    RESULTS="$work/results" recipes/benchmarks/run.sh "$work/bench"
    auditeval report "$work/bench/report/speecheditbench" -o "$work/bench.html"
}
of_train() {
    train
    auditeval report "$work/run" -o "$work/train.html"
}
of_votes() { # three simulated raters in real browsers
    RESULTS="$work/results" PICTURES="$work" RESAMPLES=20 recipes/listening_test/run.sh "$work/votes"
    auditeval report "$work/votes/votes.db" -o "$work/votes.html"
}

for name in "${names[@]}"; do
    "of_$name"
done
"$PYTHON" "$recipe/pictures.py" "$pictures" "${names[@]/#/$work/}"
