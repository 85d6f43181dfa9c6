#!/usr/bin/env bash
# recipes/train_default/run.sh DATA WORK [overrides]: train the evaluator that ships, which hears what
# real processors leave and learns from people too, and ask each listening test of one that has not heard
# it. DATA holds esc10/, librispeech10/, emodb_subset/ and p835/ and, if you have them, neural_codecs/,
# pick_the_best/ and processors/ (see README.md). A run that is finished is not trained again. The tables
# go to RESULTS, by default results/ beside this file, which the READMEs quote. For a quick look:
# SCENES=20, whose tables go to WORK/results. With ABLATION=1 also ablation.md: simulation less one
# extractor, one set of edits or some faults; eighteen runs more.
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
keep() { # keep FILE NAME: a table of WORK as a result
    cp "$work/$1.md" "$results/$2.md"
}
keep_scores() { # keep_scores RUN EVALUATOR TEST: what was said, for auditeval evaluate to report again
    cp "$work/$1/$2/scores-$3.csv" "$results/$3_scores.csv"
}
compare() { # compare FILE RUNS AND OPTIONS
    "$python" -c "from auditeval.cli import main; main()" compare "${@:2}" -o "$work/$1.md"
    keep "$1" "$1" # a table that came with the project is none of the command's, to overwrite
}
scenes="${SCENES:-1200}"
recordings=(esc10="$data/esc10" librispeech="$data/librispeech10" emodb="$data/emodb_subset")
credits="the project's sounds (MIT), ESC-10 (CC BY 3.0), LibriSpeech (CC BY 4.0), EMO-DB (CC0)"
all=(data.simulation.scenes="$scenes" data.changes.scenes="$(((scenes + 4) / 5))")
all+=(data.contrasts.trials="$scenes")
for name in restorations lengths strengths removals unasked spoken_anew; do
    all+=("data.$name.scenes=$(((scenes + 4) / 5))")
done
all+=("${recordings[@]/#/recordings.}")
if [ -d "$data/processors" ]; then
    all+=(processors.lyra="$data/processors/lyra" processors.dtln="$data/processors/DTLN")
    all+=(processors.gtcrn="$data/processors/gtcrn" processors.world=true)
fi

# Listening tests: who was heard in training, and who is asked. A model is tested on people by tests
# that it has not heard.
heard_p835=(data.people.p835="$data/p835")
asked_p835=(tests.p835.manifest.folder="$data/p835")
heard_codecs=() asked_codecs=() heard_removal=() asked_removal=()
tests=people alone=('~tests.p835.baselines')
if [ -d "$data/neural_codecs" ]; then
    tests+=,codecs
    heard_codecs=(data.people.mushra-codecs="$data/neural_codecs")
    asked_codecs=(tests.codecs.manifest.folder="$data/neural_codecs")
    alone+=('~tests.codecs.baselines')
fi
if [ -d "$data/pick_the_best" ]; then
    tests+=,removal
    heard_removal=(data.people.{pick-the-best,pick-the-best-voice}="$data/pick_the_best")
    for original in mixture voice; do
        asked_removal+=("tests.removal_$original.manifest.folder=$data/pick_the_best")
        alone+=("~tests.removal_$original.baselines")
    done
fi
asked=("tests=[$tests]" "${asked_p835[@]}" "${asked_codecs[@]}" "${asked_removal[@]}")
ablation=("${all[@]}" data=recordings "${asked[@]}" "${alone[@]}" name=average)

# One that has heard all of them; its relevance is tested on sounds that it has not.
train default "${all[@]}" data=people "${heard_p835[@]}" "${heard_codecs[@]}" "${heard_removal[@]}" \
    "data.credits=\"$credits; ratings of P.835 (MIT), codecs (CC BY 4.0), separated voices (MIT)\"" \
    'tests=[contrasts]'

# Leave one listening test out: what is said of people is said by models that have not heard them.
train simulated "${all[@]}" data=recordings "data.credits=\"$credits\"" "${asked[@]}" name=average
train without_p835 "${all[@]}" data=people name=without-p835 \
    "${heard_codecs[@]}" "${heard_removal[@]}" 'tests=[people]' "${asked_p835[@]}"
if [ ${#heard_codecs[@]} -gt 0 ]; then
    train without_codecs "${all[@]}" data=people name=without-codecs \
        "${heard_p835[@]}" "${heard_removal[@]}" 'tests=[codecs]' "${asked_codecs[@]}"
    train without_codecs_and_lyra "${all[@]}" data=people name=without-codecs-and-lyra \
        "${heard_p835[@]}" "${heard_removal[@]}" 'tests=[codecs]' "${asked_codecs[@]}" 'data.faults=[neural_codec,neural_decoder]'
fi
if [ ${#heard_removal[@]} -gt 0 ]; then
    train without_removal "${all[@]}" data=people name=without-removal \
        "${heard_p835[@]}" "${heard_codecs[@]}" 'tests=[removal]' "${asked_removal[@]}"
fi

# Extractor by extractor, then fault by fault: what simulation alone would teach without it.
ablate() {
    local whole=(acoustics changes events likeness naturalness_of_voices parts regeneration spectrum texture words)
    local sounds_alone=(model.by_change=false data.changes=null data.restorations=null)
    local runs=() name features more
    for name in acoustics changes likeness naturalness_of_voices parts regeneration texture; do
        features="$(printf '%s\n' "${whole[@]}" | grep -v "^$name$" | paste -sd,)"
        more=()
        case $name in
            acoustics) more=('model.framewise=[likeness,parts,spectrum]') ;;
            changes) more=("${sounds_alone[@]}") ;;
            likeness) more=('model.framewise=[acoustics,parts,spectrum]') ;;
            parts) more=('model.framewise=[acoustics,likeness,spectrum]' 'model.of_removals=[]') ;;
            regeneration) more=(model.framewise=[] 'model.deaf.faithfulness=[texture]') ;;
            texture) more=('model.deaf.faithfulness=[regeneration]') ;;
        esac
        train "without_$name" "${ablation[@]}" "features=[$features]" "${more[@]}"
        runs+=("$work/without_$name")
    done
    train offline "${ablation[@]}" "${sounds_alone[@]}" model.framewise=[] model.of_removals=[] \
        '~model.deaf.faithfulness' features=offline
    for name in contrasts restorations strengths removals unasked spoken_anew; do
        train "without_$name" "${ablation[@]}" "data.$name=null"
        runs+=("$work/without_$name")
    done
    without() { # without NAME FAULTS
        train "without_$1" "${ablation[@]}" "data.faults=[$2]"
        runs+=("$work/without_$1")
    }
    without distortion mnru,quantisation,vocoder,phase,musical_noise,opus,mp3
    without decoders neural_codec,neural_decoder,speech_vocoded
    without separation separation_artefacts,separation_leakage,separation_loss
    without effects effect_strength,effect_anew,effect_missing
    compare ablation "$work"/{simulated,offline} "${runs[@]}"
}
[ -z "${ABLATION:-}" ] || ablate

# Relevance of events that were never trained on: ESC-10's ten classes, two by two; the fifth pair is
# the one that the evaluator itself was trained without.
folds=("$work/default")
for classes in baby_cry,chainsaw clock_ticking,dog_bark fire_crackling,helicopter sneeze,rain; do
    name="without_${classes/,/_and_}"
    train "$name" "${all[@]}" data=recordings 'tests=[contrasts]' "data.unheard=[$classes]"
    folds+=("$work/$name")
done
compare leave_two_classes_out --pool "${folds[@]}"

"$python" train.py run_dir="$work/first" # the first command of the project's README

keep first/report/agreement first_command
keep default/report/agreement held_out
keep default/report/contrasts/contrasts contrasts
keep default/report/machine machine
keep simulated/report/p835/agreement p835_simulated
keep without_p835/report/p835/agreement p835
keep_scores without_p835 without-p835 p835
if [ -d "$data/neural_codecs" ]; then
    keep simulated/report/codecs/agreement codecs_simulated
    keep without_codecs/report/codecs/agreement codecs
    keep_scores without_codecs without-codecs codecs
    keep without_codecs_and_lyra/report/codecs/agreement codecs_without_lyra
fi
if [ -d "$data/pick_the_best" ]; then
    keep without_removal/report/removal_mixture/within removal_mixture
    keep without_removal/report/removal_voice/within removal_voice
    keep_scores without_removal without-removal removal_mixture
    keep_scores without_removal without-removal removal_voice
fi

# The evaluator's card holds what was found by those that were trained without each test.
for table in p835 codecs removal_mixture removal_voice leave_two_classes_out; do
    [ ! -e "$results/$table.md" ] || cp "$results/$table.md" "$work/default/report/"
done
"$python" - "$work/default/auditeval-offline/holdout/checkpoint" "$work/default" <<'END'
import sys
from pathlib import Path

from auditeval.report import card

print("model card:", card.write(*map(Path, sys.argv[1:])))
END
"$python" recipes/train_default/thorough.py "$work/default/auditeval-offline/holdout/checkpoint" \
    "$work/auditeval-offline-thorough"
