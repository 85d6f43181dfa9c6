"""Original checkpoint files (.pt, .pth), read as data: nothing in them is ever run."""

from __future__ import annotations

import os
import re
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from auditeval.types import UserError

_BEFORE_ZIP = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."  # how torch marked its files until 1.5


def read(path: str | os.PathLike[str], supported: str) -> dict[str, Tensor]:
    """The tensors of a file that torch saved :: upstream key -> tensor, `module.` taken off.

    Looks into {"state_dict": ...} (LAION), {"model": ...} (Microsoft, PANNs) and a bare state dict.
    What else lies in the file (optimizer state, epoch) is dropped. Raises UserError, which ends
    with what is `supported`, for anything else.
    """
    content = load(path, supported)
    for key in ("state_dict", "model"):
        if isinstance(content, dict) and isinstance(content.get(key), dict):
            content = content[key]
    tensors = (
        {str(key).removeprefix("module."): value for key, value in content.items()}
        if isinstance(content, dict)
        else {}
    )
    if not tensors or not all(isinstance(value, Tensor) for value in tensors.values()):
        raise UserError(
            f"{path}: holds {_describe(content)} and no model weights that are known here; "
            f"{supported}"
        )
    return tensors


def load(path: str | os.PathLike[str], supported: str, mapped: bool = False) -> Any:
    """What torch saved in a file, read with `weights_only`.

    Beyond torch's own list only numpy scalars and arrays are admitted, which training scripts leave
    beside the weights (optimizer, PANNs' sampler); arrays are read as nothing. `mapped`
    tensors stay on disk until they are used. Raises UserError.
    """
    path = Path(path)
    if not path.is_file():
        raise UserError(
            f"{path}: {'is a folder, not a file' if path.is_dir() else 'no such file'}; {supported}"
        )
    admitted = [*_numpy_scalars(), *_numpy_arrays()]
    try:
        with torch.serialization.safe_globals(admitted), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of protocols it may not know: then it raises
            return torch.load(path, map_location="cpu", weights_only=True, mmap=mapped)
    except Exception as error:  # the unpickler lets through whatever a malformed file provokes
        raise UserError(f"{path}: {_found(path, error)}; {supported}") from None


class _Array:
    """Stands where a numpy array was, and holds nothing of it."""

    def __init__(self, *_: object) -> None: ...

    def __setstate__(self, state: object) -> None: ...


def _numpy_arrays() -> list[Any]:
    """The names under which releases 1 and 2 of numpy write arrays."""
    makers = [f"numpy.{core}.multiarray._reconstruct" for core in ("core", "_core")]
    return [_Array, *((_Array, name) for name in ("numpy.ndarray", *makers))]


def _numpy_scalars() -> list[Any]:
    """What rebuilds one number; it can hold no code."""
    module = "numpy._core.multiarray" if np.__version__ >= "2" else "numpy.core.multiarray"
    scalar = __import__(module, fromlist=["scalar"]).scalar
    kinds = [np.dtypes.Float64DType, np.dtypes.Float32DType, np.dtypes.Int64DType]
    return [np.dtype, *kinds, scalar, (scalar, "numpy.core.multiarray.scalar")]


def _found(path: Path, error: Exception) -> str:
    """What a file that torch refuses is, judged by its first bytes."""
    head = path.open("rb").read(512)
    if not head:
        return "is empty"
    zipped = head.startswith(b"PK")
    if zipped or head.startswith(_BEFORE_ZIP):
        if asked := re.search(r"GLOBAL (\S+)|<class '(\S+)'>", str(error)):
            return f"asks for Python code to be run ({asked[1] or asked[2]}), which is refused"
        if zipped and zipfile.is_zipfile(path):
            return "is a ZIP archive but no whole PyTorch file"
        return "is a truncated PyTorch file (its end is missing)"
    if head.startswith(b"\x80"):
        return "is a pickle, not a PyTorch file; it can run code when loaded, and is refused"
    if not set(head) & set(range(9)):
        return "is a text file"
    return "is no PyTorch file"


def _describe(content: object) -> str:
    if isinstance(content, dict):
        names = ", ".join(repr(str(key)) for key in list(content)[:3])
        return f"a dictionary of {len(content)} entries ({names})" if content else "nothing"
    return f"a {type(content).__name__}"
