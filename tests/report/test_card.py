"""Model cards: a header that the hub's own parser reads, and the facts of the checkpoint."""

from __future__ import annotations

from pathlib import Path

from huggingface_hub import ModelCard

from auditeval.report import card

DESCRIBED = {
    "features": {"spectrum": {"revision": "7"}, "clap": {"revision": "a|b"}},
    "model": {"name": "pairwise"},
    "training": {"pairs": 48, "seed": 3, "ratings_from": "the SIMULATED | panel"},
    "software": {"auditeval": "0.1.0"},
}
TABLE = "# Agreement with people\n\n| a |\n|---|\n| 1 |\n"


def test_the_hub_reads_the_header(tmp_path: Path) -> None:
    text = card.render(
        {"name": "mine", "data": {"credits": "ESC: CC BY"}}, DESCRIBED, 3_400_000, []
    )
    found = ModelCard(text).data
    assert (found.license, found.library_name, found.model_name) == ("mit", "auditeval", "mine")
    assert "audio-editing" in found.tags
    assert text.count("\n---\n") == 1  # where the header ends


def test_the_card_tells_what_the_checkpoint_was_made_from(tmp_path: Path) -> None:
    text = card.render({"name": "mine", "data": {"credits": "C"}}, DESCRIBED, 3_400_000, [TABLE])
    for line in (
        "| features | `spectrum`: log-mel statistics, no weights; `clap`: a\\|b |",
        "| model | `pairwise`, 3.4 MB |",
        "| training data | 48 pairs; C |",
        "| ratings | the SIMULATED \\| panel |",
        "| made by | `train.py` of auditeval 0.1.0, seed 3 |",
    ):
        assert line in text.splitlines()
    assert f"\n#{TABLE}" in text
    assert "not stated" in card.render({"name": "x", "data": {}}, DESCRIBED, 1, [])


PEOPLE = {"p835": "here", "mushra-codecs": None, "pick-the-best": "x", "pick-the-best-voice": "x"}
HEARD = "the SIMULATED panel; trained on the listening tests that data.people names"


def test_the_card_names_the_listening_tests_that_were_heard(tmp_path: Path) -> None:
    def row(people: dict[str, str | None]) -> str:
        described = {**DESCRIBED, "training": {**DESCRIBED["training"], "ratings_from": HEARD}}
        table = f"# Agreement with human ratings; trained on {HEARD}\n\n| a |\n|---|\n| 1 |\n"
        data = {"people": people}
        text = card.render({"name": "mine", "data": data}, described, 1, [table])
        assert "data.people" not in text
        return next(line for line in text.splitlines() if line.startswith("| ratings |"))

    names = "listening tests: noisy speech (ITU-T P.835), separated voices (choices of the best) |"
    assert row(PEOPLE).endswith(names)
    assert row(dict.fromkeys(PEOPLE)).endswith("listening tests: none |")
    config = (Path(__file__).parents[2] / "configs" / "data" / "people.yaml").read_text()
    assert "the listening tests that data.people names" in config


def test_rows_of_siblings_are_explained_where_there_are_any(tmp_path: Path) -> None:
    def said(name: str, row: str) -> str:
        table = f"# Agreement with human MUSHRA ratings\n\n| axis | by |\n|---|---|\n{row}\n"
        return card.render({"name": name, "data": {}}, DESCRIBED, 1, [table])

    sibling, question = "Rows `without-X` are by sibling models", "MUSHRA asks one question"
    assert sibling in said("mine", "| quality | without-p835 |")
    assert sibling not in said("without-p835", "| quality | without-p835 |")
    assert sibling not in said("mine", "| quality | mine |")
    assert question in said("mine", "| faithfulness | mine |")
    assert question not in said("mine", "| quality | mine |")


def test_the_card_opens_with_its_use_and_with_what_people_said(tmp_path: Path) -> None:
    titles = [
        "Runs compared",
        "Agreement with the SIMULATED panel",
        "Share of trials",
        "Made on",
        "Another table",
        "Agreement with human ratings",
    ]
    tables = [f"# {title}\n\n| a |\n|---|\n| 1 |\n" for title in titles]
    text = card.render({"name": "mine", "data": {}}, DESCRIBED, 1, tables)
    assert text.index("Good for") < text.index("```python") < text.index("## ")
    assert [line[3:] for line in text.splitlines() if line.startswith("## ")] == [
        *(titles[place] for place in (5, 1, 2, 4, 0, 3)),
        "Limits",
    ]
