"""Makes a file that the commands read of whatever holds a program."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Optional, Sequence

from toroid._commands import ToroidError, first_line
from toroid._jaxlib import hlo_of_stablehlo

# Files of a dump folder that hold a program before XLA's passes, the best first.
_BEFORE_PASSES = (
    "before_optimizations.hlo.pb",
    "before_optimizations.hlo.pb.gz",
    "before_optimizations.txt",
    "hlo_unoptimized_snapshot.pb",
)
_LONGEST_PATH = 4096  # A longer text is a program.
_BYTECODE_MAGIC = b"ML\xefR"  # MLIR's bytecode.
_STABLEHLO = re.compile(rb"\b(?:stablehlo|mhlo|vhlo)\.|func\.func\b|\"builtin\.module\"|^\s*module\b", re.MULTILINE)


def _file_of_folder(folder: Path) -> Path:
    files = sorted(path for path in folder.iterdir() if path.is_file())
    for suffix in _BEFORE_PASSES:
        found = [path for path in files if path.name.endswith(suffix)]
        if len(found) == 1:
            return found[0]
        if found:
            largest = sorted(found, key=lambda path: path.stat().st_size, reverse=True)
            names = ", ".join(path.name for path in largest[:4])
            more = f" and {len(found) - 4} more" if len(found) > 4 else ""
            raise ToroidError(f"{folder}: {len(found)} modules; load one of them, largest first: {names}{more}")
    raise ToroidError(f"{folder}: no file ends in {', '.join(_BEFORE_PASSES)}; dump with XLA_FLAGS=--xla_dump_to=FOLDER --xla_dump_hlo_as_proto")


def is_stablehlo(data: bytes) -> bool:
    """Whether bytes begin like StableHLO, as text or as bytecode."""
    return data.startswith(_BYTECODE_MAGIC) or (
        not data.lstrip().startswith(b"HloModule") and _STABLEHLO.search(data[:4096]) is not None
    )


def _hlo_of_mlir_module(module: Any) -> bytes:
    return hlo_of_stablehlo(str(module.operation.get_asm(enable_debug_info=True)).encode())


def _lowered(traced: Any, platform: Optional[str]) -> Any:
    """Lowers for the platform; without one for the devices at hand, or for TPUs if the mesh has none."""
    try:
        return traced.lower(lowering_platforms=(platform,)) if platform else traced.lower()
    except ValueError:
        if platform:
            raise
        return traced.lower(lowering_platforms=("tpu",))


def source_of(x: Any, arguments: Optional[Sequence[Any]], platform: Optional[str]) -> tuple[Optional[Path], bytes]:
    """The file of a program, or its bytes.

    Args:
      x: what `toroid.load` takes.
      arguments: shapes for a TensorFlow function.
      platform: for a traced function of JAX.

    Raises:
      ToroidError: if x is none of these, or has several modules.
    """
    if isinstance(x, str) and (len(x) > _LONGEST_PATH or "\n" in x or x.startswith("HloModule")):
        x = x.encode()
    if isinstance(x, (str, os.PathLike)):
        path = Path(x)
        if path.is_dir():
            return _file_of_folder(path), b""
        if not path.exists():
            raise ToroidError(f"{path}: no such file or folder")
        with open(path, "rb") as file:
            if is_stablehlo(file.read(4096)):
                return None, hlo_of_stablehlo(path.read_bytes())
        return path, b""
    if isinstance(x, (bytes, bytearray, memoryview)):
        data = bytes(x)
        return None, hlo_of_stablehlo(data) if is_stablehlo(data) else data
    if hasattr(x, "lower") and hasattr(x, "jaxpr"):  # jax.stages.Traced
        x = _lowered(x, platform)
    if hasattr(x, "compiler_ir"):  # jax.stages.Lowered
        try:
            return None, bytes(x.compiler_ir("hlo").as_serialized_hlo_module_proto())
        except Exception as error:
            raise ToroidError(f"{type(x).__name__}: {first_line(error)}") from None
    if hasattr(x, "runtime_executable"):  # jax.stages.Compiled
        modules = x.runtime_executable().hlo_modules()
        if len(modules) != 1:
            raise ToroidError(f"a compiled function of {len(modules)} modules; load one of them by its bytes")
        return None, bytes(modules[0].as_serialized_hlo_module_proto())
    if hasattr(x, "mlir_module_serialized"):  # jax.export.Exported
        return None, hlo_of_stablehlo(bytes(x.mlir_module_serialized))
    if hasattr(x, "experimental_get_compiler_ir"):  # A function of TensorFlow.
        if arguments is None:
            raise ToroidError("a TensorFlow function needs the shapes of its arguments: toroid.load(f, args=[tf.TensorSpec(...), ...])")
        return None, bytes(x.experimental_get_compiler_ir(*arguments)(stage="hlo_serialized"))
    if hasattr(x, "as_serialized_hlo_module_proto"):  # An HloModule or XlaComputation of jaxlib.
        return None, bytes(x.as_serialized_hlo_module_proto())
    if hasattr(x, "operation") and hasattr(x.operation, "get_asm"):  # A module of MLIR.
        return None, _hlo_of_mlir_module(x)
    if hasattr(x, "SerializeToString"):  # A proto.
        return None, bytes(x.SerializeToString())
    hint = ""
    if hasattr(x, "trace") and hasattr(x, "lower"):  # jax.jit(f) itself.
        hint = "; give it arguments first: f.trace(*args) or f.lower(*args)"
    elif type(x).__module__.split(".")[0] in ("jax", "jaxlib"):
        hint = "; load a lowered or traced function, not an array or a tracer"
    raise ToroidError(f"cannot load a program from {type(x).__module__}.{type(x).__qualname__}{hint}")
