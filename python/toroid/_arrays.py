"""Arrays in and out of programs that run."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Any, Iterator, Optional, Sequence

import ml_dtypes
import numpy as np

from toroid._commands import ToroidError, Word, run

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


def rank_of(shape: str) -> int:
    """The rank of an array by its text in HLO.

    >>> rank_of("f32[48,32]"), rank_of("pred[]")
    (2, 0)
    """
    dims = shape[shape.find("[") + 1 : shape.find("]")]
    return dims.count(",") + 1 if dims else 0


def _leaves(x: Any) -> Iterator[Any]:
    """The arrays of nested tuples, lists and dicts, dicts in the order of their keys, as jax flattens them."""
    if isinstance(x, dict):
        for key in sorted(x):
            yield from _leaves(x[key])
    elif isinstance(x, (tuple, list)):
        for element in x:
            yield from _leaves(element)
    elif x is not None:
        yield x


def _array(x: Any, number: int) -> np.ndarray:
    if type(x).__module__.startswith("jax") and "Tracer" in type(x).__name__:
        raise ToroidError(f"argument {number} is a tracer of jax: call outside jit, with arrays")
    try:
        array = np.asarray(x)
    except Exception as error:
        raise ToroidError(f"argument {number}, {type(x).__name__}: {str(error).strip().splitlines()[0]}") from None
    if array.dtype.hasobject:
        raise ToroidError(f"argument {number}: {type(x).__name__} is no array of numbers")
    return array


def _write_arguments(folder: Path, args: Sequence[Any]) -> Path:
    arrays = [_array(x, number) for number, x in enumerate(_leaves(list(args)))]
    out = folder / "arguments.npz"
    with open(out, "wb") as file:
        np.savez(file, *arrays)
    return out


def _element_types(text: str) -> list[str]:
    return re.findall(r"([a-z]+[0-9a-z]*)\[", re.sub(r"/\*.*?\*/", "", text))


def run_program(path: Path, args: Optional[Sequence[Any]], words: Sequence[str], progress: Optional[bool]) -> list[np.ndarray]:
    """Runs a program with `hlo-run` and returns the arrays of its result."""
    with tempfile.TemporaryDirectory(prefix="toroid-") as name:
        folder = Path(name)
        command: list[Word] = [path, *words, "-o", folder / "results.npz"]
        if args is not None:
            command += ["--args", _write_arguments(folder, args)]
        run("hlo-run", command, progress=progress)
        shape = json.loads(run("hlo-convert", [path, "--stats=json"]))["result"]["shape"]
        types = [t for t in _element_types(shape) if t != "token"]
        with np.load(folder / "results.npz") as results:
            arrays = [results[f"arr_{i}"] for i in range(len(results.files))]
    return [
        array.view(_EXTENSION_TYPES[types[i]]) if i < len(types) and types[i] in _EXTENSION_TYPES else array
        for i, array in enumerate(arrays)
    ]


def check_program(
    path: Path, args: Optional[Sequence[Any]], words: Sequence[str], progress: Optional[bool]
) -> dict[str, Any]:
    """The JSON of `hlo-run --check`."""
    with tempfile.TemporaryDirectory(prefix="toroid-") as name:
        command: list[Word] = [path, "--check", *words]
        if args is not None:
            command += ["--args", _write_arguments(Path(name), args)]
        # A difference is a result, with exit code 1 and the same line of JSON.
        text = run("hlo-run", command, progress=progress, allowed_exits=(0, 1))
        if not text.strip():
            run("hlo-run", command, progress=progress)  # Raises the command's error.
        return dict(json.loads(text))


def module_of_hlo_proto(proto: bytes) -> bytes:
    """The HloModuleProto in an HloProto: field 1, a length and as many bytes.

    >>> module_of_hlo_proto(bytes([0x1A, 1, 7, 0x0A, 2, 5, 6]))
    b'\\x05\\x06'
    """
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = proto[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(proto):
        tag = varint()
        if tag & 7 != 2:
            break
        length = varint()
        if tag >> 3 == 1:
            return proto[at : at + length]
        at += length
    raise ToroidError("an HloProto without a module")


def stablehlo_of(proto: bytes) -> str:
    """StableHLO text of an HLO proto, by the installed jaxlib."""
    try:
        from jaxlib import xla_client  # pylint: disable=import-outside-toplevel
        from jaxlib.mlir import ir  # pylint: disable=import-outside-toplevel
        from jaxlib.mlir._mlir_libs import _jax_mlir_ext  # pylint: disable=import-outside-toplevel
        from jaxlib.mlir.dialects import chlo, stablehlo  # pylint: disable=import-outside-toplevel
    except ImportError:
        raise ToroidError("StableHLO is written with jaxlib, which is not installed: pip install jaxlib") from None
    try:
        bytecode = getattr(xla_client, "_xla").mlir.hlo_to_stablehlo(proto)
        with ir.Context() as context:
            registry = ir.DialectRegistry()
            _jax_mlir_ext.register_dialects(registry)
            context.append_dialect_registry(registry)
            context.load_all_available_dialects()
            stablehlo.register_dialect(context)
            chlo.register_dialect(context)
            return str(ir.Module.parse(bytecode))
    except Exception as error:
        raise ToroidError(f"StableHLO: {str(error).strip().splitlines()[0]}") from None
