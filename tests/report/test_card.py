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
