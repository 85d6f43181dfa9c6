"""What is shown of a user's text."""

from __future__ import annotations

import pytest

from auditeval.text import visible


@pytest.mark.parametrize(
    "text",
    [
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",  # Persian
        "\u0915\u094d\u200d\u0937",  # Hindi
        "\U0001f469\u200d\U0001f469\u200d\U0001f467",  # a family
        "\u2764\ufe0f\u200d\U0001f525",  # a heart on fire
    ],
)
def test_joiners_stay_where_they_join(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize("text", ["a{}b", "{}\u0645", "\u0645{}", "\u72ac{}\u72ac", "\u0645{} a"])
@pytest.mark.parametrize("joiner", ["\u200c", "\u200d"])
def test_joiners_that_join_nothing_are_seen(text: str, joiner: str) -> None:
    assert visible(text.format(joiner)) == text.format(joiner.encode("unicode_escape").decode())


def test_a_space_of_any_width_is_one() -> None:
    assert visible("Un chien\xa0!\u202f\u3000\u2028") == "Un chien\xa0!\u202f\u3000\\u2028"
