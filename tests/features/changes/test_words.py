"""What words ask for: held-out wordings, traps, amounts, and the file of weights."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from auditeval.data.change_words.vocabulary import CHANGES, EVENT, OPPOSITES, example
from auditeval.features.changes.polarity import direction, said_apart, terms
from auditeval.features.changes.words import WEIGHTS, ChangeWords, metadata
from auditeval.features.minilm import DIM
from auditeval.types import UserError

RECIPE = Path(__file__).parents[3] / "recipes" / "change_words"


@pytest.fixture(scope="module")
def words() -> ChangeWords:
    try:
        return ChangeWords()
    except UserError as error:
        if "minilm" not in str(error).lower():
            raise
        pytest.skip(str(error))


def asked(words: ChangeWords, text: str) -> str:
    return CHANGES[int(words.probabilities(text).argmax())]


def test_held_out_wordings_are_understood(words: ChangeWords) -> None:
    """Other draws than those of the recipe's table, of which this is no copy."""
    rng = np.random.default_rng(11)
    texts = {example(change, rng, held_out=True): change for change in CHANGES for _ in range(12)}
    told, apart = [], []
    for text, change in texts.items():
        row = dict(zip(CHANGES, words.probabilities(text), strict=True))
        told.append(max(row, key=row.__getitem__) == change)
        if change in OPPOSITES:
            apart.append(row[change] > row[OPPOSITES[change]])
    assert len(told) > 200
    assert np.mean(told) > 0.5
    assert np.mean(apart) > 0.5


# What somebody could write, and what is easily taken for something else.
TRAPS = {
    "add a siren rising in pitch": EVENT,
    "loud thunder": EVENT,
    "add loud thunder": EVENT,
    "a man speaks": EVENT,
    "a dog barks": EVENT,
    "add a speed boat": EVENT,
    "speed boat": EVENT,
    "remove the loud dog bark": EVENT,
    "remove the rain": EVENT,
    "Replace the piano by a violin.": EVENT,
    "remove the speech": EVENT,
    "add a telephone ringing in the background": EVENT,
    "add a bass guitar": EVENT,
    "remove the reverb": "less_reverb",
    "remove the noise": "cleaner",
    "Remove the background noise.": "cleaner",
    "make the woman sound like a man": "male",
    "make it less bright": "duller",
    "make it less muffled": "brighter",
    "the voice is too quiet, make it louder": "louder",
    "the voice is too loud, make it quieter": "softer",
    "slow it down": "slower",
    "speed it up": "faster",
    "turn the volume down": "softer",
    "turn the volume up": "louder",
    "in a higher pitch": "pitch_up",
    "in a lower pitch": "pitch_down",
    "quickly": "faster",
    "slow": "slower",
    "loudly": "louder",
    "quietly": "softer",
    "whispering": "whispered",
    "far away in a large hall": "more_reverb",
    "behind a closed door": "duller",
    "over the telephone": "narrow",
    "say 'louder' instead of 'faster'": "said",
    'replace the word "higher" with "lower"': "said",
    "remove the word really": "said",
    "Raise the pitch without changing the tempo.": "pitch_up",
    "Speed it up without changing the pitch.": "faster",
    "Make it louder, not faster.": "louder",
    "Make it louder without distortion.": "louder",
    "Lower it by an octave, leaving the tempo alone": "pitch_down",
    "Remove the reverb without affecting the voice": "less_reverb",
    "Make it half as loud.": "softer",
    "Make it 50% as loud.": "softer",
    "Not so loud, please.": "softer",
    "Halve the volume.": "softer",
    "half as fast": "slower",
    "Play it at 80% speed": "slower",
    "Time-stretch to 80% speed": "slower",
    "Change the speed to 0.8x": "slower",
    "Set the volume to 50%": "softer",
    "Double the loudness of the siren": "louder",
    "Shift the pitch by -3 semitones": "pitch_down",
    "Apply a gain of -6 dB": "softer",
    "-3dB": "softer",
    "a 20% speed increase": "faster",
    "apply a 10% tempo reduction": "slower",
    "+6 dB": "louder",
    "+2 semitones": "pitch_up",
    "-2 st": "pitch_down",
    "Gain: -6 dB": "softer",
    "apply -6 dB of gain": "softer",
    "volume -50%": "softer",
    "tempo -10%": "slower",
    "+10% speed": "faster",
    "pitch: -3 st": "pitch_down",
    "transpose -7": "pitch_down",
    ".5x speed": "slower",
    "0.5x": "slower",
    "3/4 speed": "slower",
    "set the tempo to 0.75": "slower",
    "from 120 bpm to 100 bpm": "slower",
    "pitch at 90%": "pitch_down",
    "Set the pitch to 120%": "pitch_up",
    "pitch: 100%": EVENT,
    "Increase the pitch by 10%": "pitch_up",
    "slow it down to about 80%": "slower",
    "reduce the duration by 20%": "faster",
    "shrink it to 80% of its length": "faster",
    "stretched by 20%": "slower",
    "Fix the noise": "cleaner",
    "Make the noise quieter": "cleaner",
    "Make the reverb shorter": "less_reverb",
    "Dereverberate the speech": "less_reverb",
    "Attenuate the highs": "duller",
    "Cut the low end": "brighter",
    "Low-pass the audio at 3000 Hz": "duller",
    "Make the man sound like a woman.": "female",
    "Make her stop whispering": "voiced",
    "The speech should not be so fast": "slower",
    "Speed up the speech keeping pitch constant": "faster",
    "Raise the pitch, not the speed": "pitch_up",
    "Move the speaker further away from the microphone": "more_reverb",
    "Fade out at the end": EVENT,
    "Trim the first two seconds": EVENT,
    "Add rain but not too loud": EVENT,
    "Tone it down": "softer",
    "Please tone the music down a bit": "softer",
    "Tone down the reverb": "less_reverb",
    "a whole tone down": "pitch_down",
    "Isolate the speech": EVENT,
    "Keep only the voice": EVENT,
    "Remove everything but the whispering man": EVENT,
    "Isolate the voice from the background noise": "cleaner",
    "I would like to hear a dog barking in the background": EVENT,
    "An ambulance ought to be replaced by cheering": EVENT,
    "There should be more reverb": "more_reverb",
    "I want the speech faster": "faster",
    "Bass +6 dB": "duller",
    "cut the bass by 6 dB": "brighter",
    "turn the noise down by 10 dB": "cleaner",
    "turn the bass drum down by 3 dB": "softer",
    # Nothing is to change; less is.
    "Don't change the pitch": EVENT,
    "Do not make it faster.": EVENT,
    "Leave everything as it is.": EVENT,
    "Keep it the same.": EVENT,
    "Don't be so loud.": "softer",
    "Don't make the voice so high": "pitch_down",
    # How it is now is what is to change.
    "The recording is noisy, please fix it.": "cleaner",
    "The voice is noisy. Make it better.": "cleaner",
    "Fix it, it is distorted.": "cleaner",
    "The clip is distorted, repair it.": "cleaner",
    "There is a lot of noise. Clean it up.": "cleaner",
    "Fix this noisy recording.": "cleaner",
    "Clean up this muffled, noisy voice.": "cleaner",
    "Restore the distorted audio.": "cleaner",
    "Enhance this echoey voice.": "less_reverb",
    "The audio is echoey; remove the echo.": "less_reverb",
    "Make the voice clearer, it is muffled.": "brighter",
    "The speech sounds muffled, please make it clear.": "brighter",
    "It sounds like a phone call, make it full-band.": "brighter",
    "It is too bright, tame the highs.": "duller",
    "Extend the bandwidth.": "brighter",
    "Make the speech clearer.": "cleaner",
    "Enhance the speech.": "cleaner",
    "The hum ruins the recording.": "cleaner",
    "Background noise is distracting.": "cleaner",
    "The echo is very annoying": "less_reverb",
    "The voice is noisy": "noisier",  # of a caption
    "Make it noisy": "noisier",
    "Add some reverb, make it nice": "more_reverb",
    "The dog is too loud, remove it.": EVENT,
    "Make it clear that there is no dog.": EVENT,
    "It is too loud, fix it.": "softer",
    "The pitch is too high-pitched, mend it.": "pitch_down",
    "It is too high, fix it.": "pitch_down",
    "The volume is too high, fix it.": "softer",
    "The dog shouldn't be so loud.": "softer",
    "I can't hear him over the noise.": "cleaner",
    "Change the speaking rate from slow to fast": "faster",
    # Children are higher; which way years go people dispute.
    "Make her sound like a child.": "pitch_up",
    "Turn the voice into a child's voice.": "pitch_up",
    "Make him sound like a five-year-old": "pitch_up",
    "Make him sound like a little boy.": "pitch_up",
    "Make the child sound like an adult.": "pitch_down",
    "Make her sound younger.": "other_talker",
    "Make the speaker sound ten years older.": "other_talker",
    "Make him sound like an old man.": "other_talker",
    "Make her sound like an old man.": "male",
    "Add a child's voice.": EVENT,
    "Make the voice sound farther away.": "more_reverb",
    "Make her sound as if speaking from across the room.": "more_reverb",
    "Bring him closer to the microphone.": "less_reverb",
    # Of a part of the clip; not all that is called a part is one of its time.
    "Make only the first bark louder.": EVENT,
    "Make the second half louder.": EVENT,
    "Raise the pitch of the last note.": EVENT,
    "Slow down towards the end.": EVENT,
    "Lower the volume from 2 to 4 seconds.": EVENT,
    "Add reverb to the last word.": EVENT,
    'Make the word "hello" louder.': EVENT,
    "Make it louder from the start to the end.": "louder",
    "Make the first violin louder.": "louder",
    "Boost the low end.": "duller",
    "The tempo should go from 90 to 120 bpm.": "faster",
    "Talk faster, like at the end of a radio ad.": "faster",
    "Remove the last word.": "said",
    'Add the words "thank you" at the end.': "said",
    "Double the tempo in the second half.": EVENT,
    # Into the background, or the other way.
    "Put the car in the background.": "softer",
    "Push the vocals back into the background.": "softer",
    "Blend a siren into the background.": EVENT,
    "Roll off the highs.": "duller",
    # Of pace.
    "Set the tempo to 120 bpm.": EVENT,
    "Bring the tempo down to 80 bpm.": "slower",
    "Change the key from C major to A minor.": EVENT,
    "Change the key from C major to D major.": "pitch_up",
    "Hurry the drum loop along.": "faster",
    "Loop the drums.": EVENT,
    "Stretch the phrase to twice its length, same pitch.": "slower",
    "At one and a half speed.": "faster",
    "Squeeze it into half the time.": "faster",
    "Play at quarter speed.": "slower",
    "half time": "slower",
    "Make it uptempo.": "faster",
    "At normal speed.": EVENT,
    "Don't add reverb.": EVENT,
    "Do nothing, the clip is fine.": EVENT,
    "Do not remove the noise.": EVENT,
}


@pytest.mark.parametrize("text", TRAPS)
def test_a_trap_is_none(words: ChangeWords, text: str) -> None:
    assert asked(words, text) == TRAPS[text]


# SpeechEditBench's own instructions [arXiv:2606.01804, Table 11 and examples]: nobody of us wrote
# them, and nothing was fitted on them.
PUBLISHED = {
    "Speak faster.": "faster",
    "Speak slower.": "slower",
    "Raise the pitch.": "pitch_up",
    "Lower the pitch.": "pitch_down",
    "Remove background noise from the speech.": "cleaner",
    "Remove reverberation from the speech.": "less_reverb",
    "Add bathroom reverberation to the speech.": "more_reverb",
    "Add small-room reverberation to the speech.": "more_reverb",
    "Add large-hall reverberation to the speech.": "more_reverb",
    "Add background music to the speech.": EVENT,
    "Add audible breathing sounds to the speech.": EVENT,
    "Change the emotion to angry.": "lively",
}


@pytest.mark.parametrize("text", PUBLISHED)
def test_instructions_of_a_benchmark_are_understood(words: ChangeWords, text: str) -> None:
    assert asked(words, text) == PUBLISHED[text]


@pytest.mark.parametrize("text", ["", " ", "...", "\n"])
def test_no_words_ask_for_nothing(words: ChangeWords, text: str) -> None:
    assert not words.probabilities(text).any()
    assert words.amounts(text) == []


def test_probabilities_are_the_same_alone_and_beside_others(words: ChangeWords) -> None:
    texts = ["make it louder", "a dog barks", "in a hall " * 100, "犬が吠える 🐕"]
    first = [words.probabilities(text) for text in texts]
    for row, text in zip(first, reversed(texts), strict=True):
        assert row.shape == (len(CHANGES),)
        assert row.dtype == np.float32
        assert row.sum() == pytest.approx(1, abs=1e-5)
        assert words.probabilities(text).shape == row.shape
    assert all(
        np.array_equal(row, ChangeWords().probabilities(text))
        for row, text in zip(first, texts, strict=True)
    )
    assert np.array_equal(words.probabilities("Make it louder."), first[0])


def test_what_is_spoken_is_no_part_of_what_is_asked() -> None:
    assert said_apart('Say "louder" instead of “faster”.') == 'say "word" instead of "word"'
    assert said_apart("the man's voice isn't loud") == "the man's voice isn't loud"
    assert said_apart('"Make it louder."') == "make it louder"


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("make it brighter", 1),
        ("make it less bright", -1),
        ("take the noise out", -1),
        ("it is too noisy, add treble", 1),
        ("slow it down", 1),
        ("a little more reverb", 1),
    ],
)
def test_which_way_words_point(text: str, sign: int) -> None:
    assert direction(text) == sign


def test_a_word_is_known_by_what_points_at_it() -> None:
    assert "-bass" in terms("with less bass")
    assert "+bass" in terms("not too little bass") | terms("with more bass")
    assert not {term for term in terms("bass") if term != "bass"}


def test_the_file_says_what_it_was_fitted_for(tmp_path: Path) -> None:
    assert WEIGHTS.stat().st_size < 500_000  # most of it words side by side
    with safe_open(WEIGHTS, "numpy") as file:
        (facts,) = map(json.loads, file.metadata().values())
        assert facts["changes"] == list(CHANGES)
        shape = (len(CHANGES), 2 * DIM + len(facts["terms"]))
        assert file.get_tensor("weight").shape == shape
        assert file.get_tensor("bias").shape == shape[:1]


def test_a_file_of_other_weights_is_refused(tmp_path: Path) -> None:
    weight, bias = np.zeros((2, 2 * DIM), np.float16), np.zeros(2, np.float32)
    path = tmp_path / "words.safetensors"
    ((name, facts),) = metadata([]).items()
    others = {name: json.dumps(json.loads(facts) | {"changes": ["louder", EVENT]})}
    save_file({"weight": weight, "bias": bias}, path, others)
    with pytest.raises(UserError, match=r"words\.safetensors: was fitted for other changes"):
        ChangeWords(weights=path)
    save_file({"weight": weight, "bias": bias}, path, metadata([]))
    with pytest.raises(UserError, match="not those of its terms"):
        ChangeWords(weights=path)
    save_file({"weight": weight, "bias": bias}, path, {name: "[]"})
    with pytest.raises(UserError, match="no weights of changes in words"):
        ChangeWords(weights=path)
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(UserError, match="no weights of changes in words"):
        ChangeWords(weights=path)
    with pytest.raises(UserError, match="no weights of changes in words"):
        ChangeWords(weights=tmp_path / "absent.safetensors")


def test_the_recipe_writes_what_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On two changes' worth of texts: it learns them, and the same bytes come out twice."""
    monkeypatch.syspath_prepend(RECIPE)
    monkeypatch.delitem(sys.modules, "run", raising=False)
    import run

    monkeypatch.setattr(run, "_RAREST", 1)
    texts = {f"{change.replace('_', ' ')} number {n}": change for change in CHANGES for n in "ab"}
    written = []
    for name in ("first", "second"):
        run.write(tmp_path / name, *run.fit(texts))
        written.append((tmp_path / name).read_bytes())
    assert written[0] == written[1]
    small = ChangeWords(weights=tmp_path / "first")
    found = run.answers(small, texts)
    assert np.mean([one.asked == one.taken for one in found]) > 0.9
    lines = run.table(found).splitlines()
    assert len([line for line in lines if line.startswith("| ")]) == len(CHANGES) + 2
