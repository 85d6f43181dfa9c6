"""Weights & Biases: a run for each model and fold and one for the report, all in one group."""

from __future__ import annotations

import inspect
import secrets
from functools import cache
from pathlib import Path
from typing import Any

from pytorch_lightning.loggers import WandbLogger as LightningsWandbLogger
from pytorch_lightning.loggers.logger import rank_zero_experiment
from pytorch_lightning.utilities.rank_zero import rank_zero_only

from auditeval import reading
from auditeval.atomic import write_text
from auditeval.metrics.agreement import LEVELS, STATISTICS
from auditeval.pretrained.packages import first_line, imported
from auditeval.types import UserError

ID = "wandb_id"
"""The file that keeps a wandb run's id, so that what is resumed goes on in the same run."""
COLUMNS = (
    *("axis", "evaluator", "rated", "missing", "level", "statistic"),
    *("value", "low", "high", "items", "undefined"),
)
"""Of a report's table: a row for each statistic, as agreement.json has it; low and high bound the
95 % interval, `undefined` says why there is no value."""


class WandbLogger(LightningsWandbLogger):
    """Lightning's, with a wandb run that begins with the training and ends with it.

    `run_dir` is the run folder of train.py: its name is the group, its config.yaml the
    configuration, and wandb's own files lie there. `save_dir` is the folder of what is logged: in
    the run folder that of a model and fold, after which the wandb run is called, or the run folder
    itself, for the report. `options` go to `wandb.init` (entity, tags, notes).

    Raises UserError, before anything is logged, without the package or, unless `offline`, without
    an account that a server knows.
    """

    def __init__(
        self,
        save_dir: str,
        run_dir: str,
        project: str = "auditeval",
        offline: bool = False,
        **options: Any,
    ) -> None:
        wandb = imported("wandb", "wandb")
        inspect.signature(wandb.init).bind_partial(**options)
        if not offline:
            _log_in()
        self._folder, self._run_dir = Path(save_dir), Path(run_dir)
        place = self._folder.relative_to(self._run_dir).as_posix()
        super().__init__(
            **{
                "name": "report" if place == "." else place,
                "group": self._run_dir.resolve().name,
                "job_type": "report" if place == "." else "training",
                "project": project,
                "save_dir": run_dir,
                "mode": "offline" if offline else None,  # what WANDB_MODE says
                "settings": {"quiet": True},
                **options,
            }
        )
        self._wandb_init.pop("anonymous", None)  # of Lightning; wandb warns of it, set or not

    @property
    @rank_zero_experiment
    def experiment(self) -> Any:
        """The wandb run, begun when it is first asked for."""
        import wandb

        if self._experiment is None:
            self._wandb_init["id"] = self._kept_id()
            self._wandb_init["config"] = reading.yaml_file(self._run_dir / "config.yaml")
        try:
            return super().experiment
        except (wandb.Error, OSError, TypeError, ValueError) as error:
            raise _failed(error) from None

    @rank_zero_only
    def finalize(self, status: str) -> None:
        """End the wandb run: the next one of this process would be logged into it."""
        super().finalize(status)
        if self._experiment is not None:
            self._experiment.finish(exit_code=int(status == "failed"))

    def log_report(self, folder: Path) -> None:
        """Every agreement table and plot of a report folder, and the end of the wandb run."""
        import wandb

        def named(kind: str, path: Path) -> str:
            return f"{kind}/{path.relative_to(folder).with_suffix('').as_posix()}"

        logged: dict[str, Any] = {
            named("table", path): wandb.Table(list(COLUMNS), rows(reading.json_file(path)))
            for path in sorted(folder.rglob("agreement.json"))
        }
        for path in sorted(folder.rglob("*.png")):
            logged[named("plot", path)] = wandb.Image(str(path))
        self.experiment.log(logged)
        self.finalize("success")

    def _kept_id(self) -> str:
        path = self._folder / ID
        if not path.exists():
            write_text(path, secrets.token_hex(8))  # no seed of the run has a part in it
        return path.read_text()


def rows(report: dict[str, Any]) -> list[list[Any]]:
    """The rows of an agreement.json under `COLUMNS`."""
    made = []
    for row in report["rows"]:
        for level in LEVELS:
            for statistic in STATISTICS:
                cell = row[level][statistic]
                made.append(
                    [
                        *(row[name] for name in COLUMNS[:4]),
                        *(level, statistic, cell["value"]),
                        *(cell["interval"] or (None, None)),
                        *(cell["items"], cell.get("undefined")),
                    ]
                )
    return made


@cache
def _log_in() -> None:
    import wandb

    try:
        wandb.login(verify=True)
    except wandb.Error as error:
        raise _failed(error) from None


def _failed(error: Exception) -> UserError:
    return UserError(
        f"logger=wandb: {first_line(error)} (logger.offline=true needs no account and no network)"
    )
