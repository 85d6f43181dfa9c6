"""Train an evaluator, print its agreement: `python train.py [experiment=NAME] [key=value]`.

`--cfg job` before them prints the configuration that they come to, and trains nothing.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

CONFIGS = Path(__file__).parent / "configs"


@hydra.main(version_base="1.3", config_path="configs", config_name="train")
def main(config: DictConfig) -> None:
    from auditeval.cli.report import page_of
    from auditeval.report.agreement_table import to_table
    from auditeval.report.render import show
    from auditeval.training import resuming
    from auditeval.training.run import train
    from auditeval.types import UserError

    try:
        if config.resume is not None:
            given = HydraConfig.get().overrides.task
            config = resuming.config(Path(str(config.resume)), CONFIGS)
            if others := [one for one in given if not one.startswith("resume=")]:
                raise UserError(
                    f"resume={config.run_dir} goes on under the configuration that the run was "
                    f"begun with; leave out {' '.join(others)}"
                )
        made = train(config)
        if made is not None and config.get("html"):  # an older run may not know it
            folder = Path(config.run_dir)
            page_of(folder, folder / "report" / "report.html")
    except KeyboardInterrupt:
        begun = (Path(config.run_dir) / resuming.CONFIG).exists()
        again = f"resume={config.run_dir} goes on from there" if begun else "no run was begun"
        sys.exit(f"train.py: interrupted; {again}")
    except UserError as error:
        sys.exit(f"train.py: {error}")
    except OSError as error:
        where = error.filename or config.run_dir
        sys.exit(f"train.py: {where}: cannot be read or written ({error.strerror or error})")
    except OmegaConfBaseException as error:  # an override that leaves a hole
        sys.exit(f"train.py: {str(error).splitlines()[0]}; see configs/train.yaml")
    if made is None:  # not the first of several devices
        return
    show(to_table(made.report), *made.tests.values())
    print(f"run folder: {config.run_dir}")


def check_groups(arguments: list[str]) -> None:
    """Leave where a group is given what names none of its files: Hydra's word is a traceback."""
    parser = OverridesParser.create()
    for argument in arguments:
        try:
            given = parser.parse_override(argument)
        except HydraException:  # an option, or what Hydra has a sentence for
            continue
        if given.key_or_group.split("/")[0] == "hydra" and given.value() is None:
            sys.exit(f"train.py: {argument}: expected the name of an option")
        group = CONFIGS / given.key_or_group
        if given.is_delete() or given.is_sweep_override() or not group.is_dir():
            continue
        value = given.value()
        names = value if isinstance(value, list) else [value]
        if not isinstance(value, dict) and not all(isinstance(x, str) and x for x in names):
            known = ", ".join(sorted(path.stem for path in group.glob("*.yaml")))
            sys.exit(f"train.py: {argument}: expected one of {known}")


if __name__ == "__main__":
    if sys.version_info >= (3, 14):  # it looks at helps, and Hydra 1.3 has one that is no text
        vars(argparse)["ArgumentParser"]._check_help = lambda *_: None
    check_groups(sys.argv[1:])
    try:
        main()
    except KeyboardInterrupt:  # before there was a configuration
        sys.exit("train.py: interrupted; no run was begun")
