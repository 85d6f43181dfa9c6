#!/usr/bin/env bash
# recipes/train_default/run.sh DATA WORK [overrides]: train the evaluator that ships, test it on
# people, and make every table of its card. DATA holds esc10/, librispeech10/, emodb_subset/, p835/
# and, if you have it, neural_codecs/ (see README.md).
# A run that is finished is not trained again. The tables go to RESULTS, by default results/ beside this
# file, which the READMEs quote. For a quick look: SCENES=20, whose tables go to WORK/results.
set -euo pipefail
mkdir -p "$2"
results="${RESULTS:-${SCENES:+$2/results}}"
results="${results:-$(dirname "$0")/results}"
mkdir -p "$results"
data="$(cd "$1" && pwd)" work="$(cd "$2" && pwd)" results="$(cd "$results" && pwd)"
overrides=("${@:3}")
cd "$(dirname "$0")/../.."
python="${PYTHON:-.venv/bin/python}"
export OMP_NUM_THREADS=1 # sums in one order: the weights do not depend on how many cores there are

train() { # train NAME OVERRIDES
    "$python" train.py experiment=auditeval_offline run_dir="$work/$1" "${@:2}" "${overrides[@]}"
}
compare() { # compare FILE RUNS AND OPTIONS
    "$python" -c "from auditeval.cli import main; main()" compare "${@:2}" \
        -o "$work/default/report/$1.md"
}
keep() { # keep FILE NAME: a table of WORK as a result
    cp "$work/$1.md" "$results/$2.md"
}
scenes="${SCENES:-1600}"
recordings=(esc10="$data/esc10" librispeech="$data/librispeech10" emodb="$data/emodb_subset")
credits="the project's sounds (MIT), ESC-10 (CC BY 3.0), LibriSpeech (CC BY 4.0), EMO-DB (CC0)"
all=(data.simulation.scenes="$scenes" "${recordings[@]/#/recordings.}" "data.credits=\"$credits\"")
tests=people
people=(tests.p835.manifest.folder="$data/p835")
alone=('~tests.p835.baselines')
if [ -d "$data/neural_codecs" ]; then
    tests+=,codecs
    people+=(tests.codecs.manifest.folder="$data/neural_codecs")
    alone+=('~tests.codecs.baselines')
fi
ablation=("tests=[$tests]" "${people[@]}" "${alone[@]}" name=average)

train default "${all[@]}" "tests=[$tests,contrasts]" "${people[@]}"

# Encoder x head, then data: what the evaluator would be without one of its parts.
train offline "${all[@]}" "${ablation[@]}" compare=heads
train yamnet "${all[@]}" "${ablation[@]}" compare=heads features=yamnet
train melstats "${all[@]}" "${ablation[@]}" compare=heads features=spectrum
train only_synthesised data=synthesised "${ablation[@]}"
kept=rooster_crow,sea_waves
train without_tones "${all[@]}" "${ablation[@]}" "data.unheard=[$kept,melody,chords,beep]"
train without_distortion "${all[@]}" "${ablation[@]}" \
    'data.manifest.faults=[mnru,quantisation,vocoder,phase,musical_noise,opus,mp3]'
compare ablation "$work"/{offline,yamnet,melstats,only_synthesised,without_tones,without_distortion}

# Relevance of events that were never trained on: ESC-10's ten classes, two by two; the fifth pair is
# the one that the evaluator itself was trained without.
folds=("$work/default")
for classes in baby_cry,chainsaw clock_ticking,dog_bark fire_crackling,helicopter sneeze,rain; do
    name="without_${classes/,/_and_}"
    train "$name" "${all[@]}" 'tests=[contrasts]' "data.unheard=[$classes]"
    folds+=("$work/$name")
done
compare leave_two_classes_out --pool "${folds[@]}"

# With the ratings of the other talkers: what a listening test of one's own adds.
train adapted "${all[@]}" data=adapted_p835 data.root="$data/p835" name=adapted 'tests=[]'
cp "$work/adapted/report/agreement.md" "$work/default/report/leave_one_talker_out.md"

checkpoint="$work/default/auditeval-offline/holdout/checkpoint"
"$python" - "$checkpoint" "$work/default" <<'END'
import sys
from pathlib import Path

from auditeval.report import card

print("model card:", card.write(*map(Path, sys.argv[1:])))
END

# The first command of the project's README.
"$python" train.py run_dir="$work/first"

keep first/report/agreement first_command
keep default/report/agreement held_out
keep default/report/p835/agreement p835
keep default/report/contrasts/contrasts contrasts
[ ! -d "$data/neural_codecs" ] || keep default/report/codecs/agreement codecs
for table in ablation leave_two_classes_out leave_one_talker_out machine; do
    keep "default/report/$table" "$table"
done
keep without_fire_crackling_and_helicopter/report/contrasts/contrasts fire_and_helicopter
