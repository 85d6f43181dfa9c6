"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

Force = Annotated[
    bool, typer.Option("--force", help="Overwrite files that are there and not this command's.")
]
