"""Which row of a block ends every process that works on it: tried in halves, and given up."""

from __future__ import annotations

from dataclasses import dataclass, field

from auditeval.blocks import Block
from auditeval.types import UserError

TRIES = 3
"""Deaths of a worker before its block is suspected, and of a row before it is given up."""
GIVEN_UP = f"ends the process that works on it, {TRIES} times of {TRIES}"
"""The reason of a row that kills."""


@dataclass(eq=False)
class Case:
    """A block that is not done, and what is known of its rows.

    `failed` were given up. Where there are `suspects`, the next thing to be done are those `tried`
    by themselves, else the block; of either it is told that the worker `died`, of those tried also
    that it `outlived` them. Workers die for other reasons as well, and no row is blamed for it.
    """

    block: Block
    failed: dict[int, str] = field(default_factory=dict)
    deaths: int = 0
    rounds: int = 0
    suspects: range | None = None
    tried: range = range(0)

    def died(self) -> None:
        """Its worker did."""
        self.deaths += 1
        if self.suspects is None:
            if self.deaths == TRIES:
                self._suspect(self.block.numbers())
        elif len(self.suspects) > 1:
            self._suspect(self.tried)
        elif self.deaths == TRIES:
            self.failed[self.suspects[0]] = GIVEN_UP
            self.deaths, self.rounds, self.suspects = 0, 0, None

    def outlived(self) -> None:
        """Those that were tried are not to blame."""
        assert self.suspects is not None
        if len(self.suspects) > 1:
            self._suspect(range(self.tried.stop, self.suspects.stop))
            return
        self.deaths, self.suspects = 0, None
        self.rounds += 1
        if self.rounds == TRIES:
            first, last = self.block.first + 1, self.block.first + self.block.rows
            raise UserError(
                f"rows {first} to {last} end the process that works on them again and again, and "
                "no row does so by itself: they may need more memory than there is; give fewer "
                "workers, or a smaller batch"
            )

    def _suspect(self, rows: range) -> None:
        self.suspects, self.deaths = rows, 0
        self.tried = rows[: (len(rows) + 1) // 2]
