"""Arrays in and out of programs that run."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any, Iterator, NamedTuple, Optional, Sequence

import ml_dtypes
import numpy as np

from toroid._commands import ToroidError, Word, first_line, run
from toroid._files import Files

# NumPy's own types carry no name for these; files hold them as raw bytes (docs/commands.md).
_EXTENSION_TYPES = {
    "bf16": ml_dtypes.bfloat16,
    "f8e4m3": ml_dtypes.float8_e4m3,
    "f8e4m3fn": ml_dtypes.float8_e4m3fn,
    "f8e4m3b11fnuz": ml_dtypes.float8_e4m3b11fnuz,
    "f8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "f8e5m2": ml_dtypes.float8_e5m2,
    "f8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "f8e3m4": ml_dtypes.float8_e3m4,
    "s4": ml_dtypes.int4,
    "u4": ml_dtypes.uint4,
    "s2": ml_dtypes.int2,
    "u2": ml_dtypes.uint2,
}


class Array(NamedTuple):
    """The shape of an array and the type of its elements."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    name: str = ""  # What the author calls it.


def arrays_of(text: str, name: str = "") -> list[Array]:
    """The arrays of a shape by its text in HLO, a tuple's in order, without tokens.

    >>> arrays_of("(f32[48,32], token[], pred[])")
    [Array(shape=(48, 32), dtype=dtype('float32'), name=''), Array(shape=(), dtype=dtype('bool'), name='')]
    """
    found = re.findall(r"([a-z]+[0-9a-z]*)\[([^\]]*)\]", re.sub(r"/\*.*?\*/", "", text))
    return [
        Array(tuple(int(size) for size in re.findall(r"\d+", dims)), _dtype(kind), name) for kind, dims in found if kind != "token"
    ]


def _dtype(name: str) -> np.dtype[Any]:
    kinds = {"f": "float", "s": "int", "u": "uint", "c": "complex"}
    kind: Any = _EXTENSION_TYPES.get(name) or ("bool" if name == "pred" else kinds[name[0]] + name[1:])
    dtype: np.dtype[Any] = np.dtype(kind)
    return dtype


def leaves(x: Any) -> Iterator[Any]:
    """The arrays of nested tuples, lists and dicts, dicts in the order of their keys, and where jax is imported of all that it flattens.

    Functions are left out, which modules of equinox hold beside their arrays.
    """
    jax = sys.modules.get("jax")
    if hasattr(jax, "tree"):
        return (leaf for leaf in getattr(jax, "tree").leaves(x) if not callable(leaf) or hasattr(leaf, "dtype"))
    return _nested(x)


def _nested(x: Any) -> Iterator[Any]:
    if isinstance(x, dict):
        for key in sorted(x):
            yield from _nested(x[key])
    elif isinstance(x, (tuple, list)):
        for element in x:
            yield from _nested(element)
    elif x is not None:
        yield x


def _array(x: Any, place: str, declared: Array, kept: tuple[type, ...]) -> Any:
    if type(x).__module__.startswith("jax") and "Tracer" in type(x).__name__:
        raise ToroidError(f"{place} is a tracer of jax: call outside jit, with arrays")
    if str(getattr(x, "dtype", "")).startswith("key<"):  # A key of jax.random is an array of u32 in the program.
        x = sys.modules["jax"].random.key_data(x)
    if isinstance(x, kept):
        return x
    try:
        # Python's numbers have no type of their own.
        array = np.asarray(x, declared.dtype) if type(x) in (bool, int, float, complex) else np.asarray(x)
    except Exception as error:
        raise ToroidError(f"{place}, {type(x).__name__}: {first_line(error)}") from None
    if array.dtype.hasobject or array.dtype.kind in "USMm":
        raise ToroidError(f"{place}: {type(x).__name__} is no array of numbers")
    return array


def arguments_of(args: Any, parameters: Sequence[Array], kept: tuple[type, ...] = ()) -> list[Any]:
    """The arrays of arguments, nested as they may be: NumPy's, or of the kinds that are kept.

    Raises:
      ToroidError: if they are not as many as the parameters, or one is not of its parameter's type and shape.
    """
    count = sum(1 for _ in leaves(args))
    if count != len(parameters):
        hint = "; jax.jit leaves out arguments that are not used, unless keep_unused=True" if count > len(parameters) else ""
        raise ToroidError(f"the program has {len(parameters)} parameters, {count} arrays were given{hint}")
    return _matching(args, parameters, "argument", kept)


def _matching(values: Any, declared: Sequence[Array], what: str, kept: tuple[type, ...] = ()) -> list[Any]:
    given = list(leaves(values))
    if len(given) != len(declared):
        raise ToroidError(f"{what}: {len(given)} arrays, the program has {len(declared)}")
    arrays = []
    for number, (value, array) in enumerate(zip(given, declared)):
        place = f"{what} {number}" + (f" ({array.name})" if array.name else "")
        found = _array(value, place, array, kept)
        if (found.dtype, found.shape) != (array.dtype, array.shape):
            raise ToroidError(f"{place} is {found.dtype}{list(found.shape)}, expected {array.dtype}{list(array.shape)}")
        arrays.append(found)
    return arrays


def _write(files: Files, name: str, arrays: Sequence[np.ndarray]) -> Path:
    out = files.folder / name
    with open(out, "wb") as file:
        np.savez(file, *arrays)
    return out


def _as_declared(array: np.ndarray, declared: Array) -> np.ndarray:
    """An array of a result: of the type that a file of NumPy cannot name, without the padding of uneven shards."""
    if array.dtype != declared.dtype:
        array = array.view(declared.dtype)
    return array[tuple(slice(size) for size in declared.shape)] if array.shape != declared.shape else array


def run_program(
    path: Path,
    args: Optional[Sequence[Any]],
    words: Sequence[str],
    progress: Optional[bool],
    arrays: tuple[Sequence[Array], Sequence[Array]],
) -> list[np.ndarray]:
    """Runs a program of these parameters and results with `hlo-run`, and returns its results."""
    parameters, results = arrays
    files = Files()
    out = files.folder / "results.npz"
    command: list[Word] = [path, *words, "-o", out]
    if args is not None:
        command += ["--args", _write(files, "arguments.npz", arguments_of(args, parameters))]
    run("hlo-run", command, progress=progress)
    with np.load(out) as file:
        return [_as_declared(file[f"arr_{i}"], declared) for i, declared in enumerate(results)]


def check_program(
    path: Path,
    args: Optional[Sequence[Any]],
    words: Sequence[str],
    progress: Optional[bool],
    arrays: tuple[Sequence[Array], Sequence[Array]],
    expected: Optional[Any],
) -> dict[str, Any]:
    """The JSON of `hlo-run --check` for a program of these parameters and results."""
    parameters, results = arrays
    files = Files()
    command: list[Word] = [path, "--check", *words]
    if args is not None:
        command += ["--args", _write(files, "arguments.npz", arguments_of(args, parameters))]
    if expected is not None:
        command += ["--expect", _write(files, "expected.npz", _matching(expected, results, "expected"))]
    # A difference is a result, with exit code 1 and the same line of JSON.
    text = run("hlo-run", command, progress=progress, allowed_exits=(0, 1))
    if not text.strip():
        run("hlo-run", command, progress=progress)  # Raises the command's error.
    return dict(json.loads(text))
