"""A row that kills is found whatever the others do; one that does not is never blamed."""

from __future__ import annotations

import pytest

from auditeval.blocks import Block
from auditeval.suspects import GIVEN_UP, TRIES, Case
from auditeval.types import UserError


@pytest.mark.parametrize("killers", [{40}, {71}, {55}, {40, 41}, {41, 60, 71}])
def test_the_rows_that_kill_are_given_up_and_no_others(killers: set[int]) -> None:
    case = Case(Block(2, 40, 32))
    for _ in range(500):
        rows = set(case.block.numbers() if case.suspects is None else case.tried)
        if rows & killers - case.failed.keys():
            case.died()
        elif case.suspects is None:
            break
        else:
            case.outlived()
    assert case.failed == dict.fromkeys(killers, GIVEN_UP)


def test_deaths_by_chance_cost_no_row() -> None:
    """Of three workers in a row that a block did not kill, nothing is left but the work again."""
    for first in range(6):
        case = Case(Block(0, 0, 8))
        for _ in range(first):
            case.died()
        while case.suspects is not None:
            case.outlived()
        assert case.failed == {}


def test_a_block_that_kills_as_a_whole_ends_in_a_sentence() -> None:
    case = Case(Block(1, 100, 4))

    def work() -> None:
        while True:
            case.died() if case.suspects is None else case.outlived()

    with pytest.raises(UserError, match=r"rows 101 to 104 end the process .* smaller batch"):
        work()


def test_a_row_is_tried_as_often_as_is_said() -> None:
    case = Case(Block(0, 5, 1))
    deaths = 0
    while not case.failed:
        case.died()
        deaths += 1
    assert case.failed == {5: GIVEN_UP}
    assert deaths == 2 * TRIES  # with the block, then alone
