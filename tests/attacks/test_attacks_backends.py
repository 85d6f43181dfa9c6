"""What a configuration makes the program call: classes of ours in their place, nothing else."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
import yaml
from commands import Ended, write_rows
from hypothesis import given, settings
from hypothesis import strategies as st
from outcomes import WrongResult, kept, refused

from auditeval import targets
from auditeval.backends.load import Backends, read
from auditeval.types import UserError

ROOT = Path(__file__).parents[2]
PYIN = "auditeval.backends.pitch.Pyin"

CALLS: dict[str, dict[str, Any]] = {
    "torch.load": {"_target_": "torch.load", "f": "x.pt", "weights_only": False},
    "numpy.save": {"_target_": "numpy.save", "file": "out.npy", "arr": 1},
    "numpy.load": {"_target_": "numpy.load", "file": "x.npy", "allow_pickle": True},
    "urlretrieve": {"_target_": "urllib.request.urlretrieve", "url": "http://127.0.0.1:9/"},
    "os.system": {"_target_": "os.system", "command": "touch out.npy"},
    "subprocess": {"_target_": "subprocess.Popen", "args": ["touch", "out.npy"]},
    "builtins.exec": {"_target_": "builtins.exec", "_args_": ["open('out.npy', 'w')"]},
    "eval by its bare name": {"_target_": "eval"},
    "a pickle": {"_target_": "pickle.loads", "_args_": ["x"]},
    "a shell by another module": {"_target_": "auditeval.atomic.os.system", "command": "x"},
    "a library behind ours": {"_target_": "auditeval.audio.files.soundfile.write", "file": "out"},
    "a function of ours": {"_target_": "auditeval.atomic.new_folder", "path": "out.npy"},
    "a function of ours that writes": {"_target_": "auditeval.audio.files.write", "path": "out"},
    "a function of a backend's module": {"_target_": "auditeval.backends.load.read", "config": "x"},
    "a class of another room": {"_target_": "auditeval.scores_log.ScoresLog", "path": "out.npy"},
    "a class that the module imports": {"_target_": "auditeval.backends.pitch.Waveform"},
    "a path of the standard library behind ours": {
        "_target_": "auditeval.backends.load.Path.write_text",
        "data": "x",
    },
    "a private class": {"_target_": "auditeval.judges.cached._NoAnswer"},
    "a method": {"_target_": f"{PYIN}.__init__"},
    "a class by a class": {"_target_": f"{PYIN}.__class__"},
    "the base of a class": {"_target_": f"{PYIN}.__base__.__subclasses__"},
    "a package": {"_target_": "auditeval.backends.pitch"},
    "a package whose name begins as ours": {"_target_": "auditeval.backends_of_mine.Pyin"},
    "dots": {"_target_": "auditeval.backends..pitch.Pyin"},
    "a relative name": {"_target_": ".pitch.Pyin"},
    "nothing": {"_target_": ""},
    "null": {"_target_": None},
    "a number": {"_target_": 7},
    "a list": {"_target_": [PYIN]},
    "blanks": {"_target_": f" {PYIN} "},
    "a line break": {"_target_": f"{PYIN}\n"},
    "no such class": {"_target_": f"{PYIN}NoMore"},
    "a class of ours that is no backend": {"_target_": "auditeval.backends.cache.ResultCache"},
    "a judge for a backend": {"_target_": "auditeval.judges.replay.ReplayJudge", "path": "x"},
    "an object as an argument": {
        "_target_": PYIN,
        "low_hz": {"_target_": "os.system", "command": "touch out.npy"},
    },
    "an object of ours as an argument": {"_target_": PYIN, "low_hz": {"_target_": PYIN}},
    "an object in a list": {"_target_": PYIN, "low_hz": [{"a": {"_target_": "os.getcwd"}}]},
    "half a call": {"_target_": PYIN, "_partial_": True},
    "positional arguments": {"_target_": PYIN, "_args_": [60]},
    "another key of Hydra's": {"_target_": PYIN, "_recursive_": False},
    "a variable": {"_target_": PYIN, "low_hz": "${oc.env:HOME}"},
    "a variable in a list": {"_target_": PYIN, "low_hz": ["${oc.env:HOME}"]},
    "a resolver": {"_target_": PYIN, "low_hz": "${oc.decode:60}"},
    "a target out of a variable": {"_target_": "${oc.env:HOME}"},
    "a wrong type": {"_target_": PYIN, "low_hz": "deep"},
}


@pytest.mark.parametrize("node", CALLS.values(), ids=CALLS)
def test_a_backend_that_is_none_of_ours_is_refused(
    node: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/a-secret")
    before = {*sys.modules}
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump({"pitch": node, "judge": None}))
    try:
        Backends(read(path)).model("pitch")
    except UserError as error:
        said = str(error)
    else:
        raise WrongResult(f"{node} was made")
    assert "pitch" in said
    assert "\n" not in said.replace(r"\n", "")
    assert "a-secret" not in said
    kept(sorted(p.name for p in tmp_path.iterdir()), ["mine.yaml"], "the folder")
    loaded = {name.partition(".")[0] for name in {*sys.modules} - before}
    assert not loaded & {"urllib2", "antigravity", "this", "auditeval.backends_of_mine"}


def test_a_configuration_is_not_imported_by_its_name(tmp_path: Path) -> None:
    """To import a module runs it: none is, but those of our own packages."""
    (tmp_path / "evil.py").write_text("raise SystemExit('imported')")
    sys.path.insert(0, str(tmp_path))
    try:
        for name in ("evil.Backend", "evil", "auditeval.backends.pitch.evil.Backend"):
            with pytest.raises(UserError, match=r"refused|expected"):
                Backends({"pitch": {"_target_": name}}).model("pitch")
    finally:
        sys.path.remove(str(tmp_path))
    assert "evil" not in sys.modules


JUDGES: dict[str, tuple[dict[str, Any], str]] = {
    "a backend for a judge": ({"_target_": PYIN}, "Pyin is no judge"),
    "any variable for a key": (
        {
            "_target_": "auditeval.judges.http.HTTPJudge",
            "base_url": "http://127.0.0.1:9/v1",
            "model": "x",
            "api_key_variable": "AWS_SECRET_ACCESS_KEY",
        },
        r"api_key_variable 'AWS_SECRET_ACCESS_KEY': expected a name that ends in _API_KEY",
    ),
    "a model out of a variable": (
        {
            "_target_": "auditeval.judges.http.HTTPJudge",
            "base_url": "http://127.0.0.1:9/v1",
            "model": "${oc.env:OPENAI_API_KEY}",
        },
        r"model is '\$\{oc\.env:OPENAI_API_KEY\}'; expected a plain value",
    ),
    "a judge with a record of its own": (
        {
            "_target_": "auditeval.judges.cached.CachedJudge",
            "judge": "x",
            "folder": None,
            "log": "mine.yaml",
        },
        "CachedJudge: 'str' object has no attribute 'name'",
    ),
}


@pytest.mark.parametrize(("node", "said"), JUDGES.values(), ids=JUDGES)
def test_a_judge_that_is_none_is_refused(
    node: Any, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    (tmp_path / "mine.yaml").write_text(text := yaml.safe_dump({"judge": node}))
    with pytest.raises(UserError, match=said) as caught:
        Backends(read(tmp_path / "mine.yaml")).model("judge")
    assert "sk-secret" not in str(caught.value)
    kept((tmp_path / "mine.yaml").read_text(), text, "a file that a record was to go to")


class Registered:
    """What another package may bring."""

    name, revision = "registered", "1"

    def __init__(self, size: int = 1) -> None:
        self.size = size

    def __call__(self, clip: Any) -> Any: ...


def registered_function() -> None: ...


def test_what_a_package_registers_may_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [
        EntryPoint(f"entry{number}", f"{__name__}:{kind}", targets.GROUP)
        for number, kind in enumerate(("Registered", "registered_function"))
    ]
    monkeypatch.setattr(targets, "entry_points", lambda group: entries)
    node = {"_target_": f"{__name__}.Registered", "size": 3}
    assert Backends({"pitch": node}).model("pitch").size == 3
    for name in ("registered_function", "EntryPoint", "Registered.__call__", "os.system"):
        with pytest.raises(UserError, match="is refused"):
            Backends({"pitch": {"_target_": f"{__name__}.{name}"}}).model("pitch")


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["auditeval", "backends", "judges", "pitch", "http", "load", "os", "system", "Pyin",
             "__class__", "__globals__", "soundfile", "write", "Path", "", "Backends", "HTTPJudge"]
        ),
        max_size=6,
    ).map(".".join)
)  # fmt: skip
def test_any_name_is_a_class_at_its_own_place_or_refused(name: str) -> None:
    try:
        found = targets.find(name, ("auditeval.backends", "auditeval.judges"))
    except UserError:
        return
    assert f"{found.__module__}.{found.__qualname__}" == name
    assert name.startswith(("auditeval.backends.", "auditeval.judges."))


def test_the_command_says_so(cli: Callable[..., Ended], tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("tagger: {_target_: torch.load}\nspeaker: {_target_: eval}")
    script = {"id": "1", "content": [{"speaker": "A", "text": "x"}], "language": "en", "scene": "x"}
    write_rows(tmp_path / "scripts.jsonl", [script])
    ended = cli(
        *("bench", "swanbench", tmp_path / "scripts.jsonl", "--baselines", "-o", tmp_path / "out"),
        *("--backends", tmp_path / "mine.yaml"),
    )
    refused(ended, r"'eval' is refused: expected a class of auditeval")
