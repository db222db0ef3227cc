"""Makes a file that the commands read of whatever holds a program."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple, Optional, Sequence, Union

from toroid._commands import ToroidError, first_line
from toroid._files import MOST_BYTES
from toroid._jaxlib import hlo_of_stablehlo
from toroid._protos import with_file_names, with_result_names
from toroid._tensorflow import hlo_of_function
from toroid._torch import hlo_of_torch

# Files of a dump folder that hold a program before XLA's passes, the best first.
_BEFORE_PASSES = (
    "before_optimizations.hlo.pb",
    "before_optimizations.hlo.pb.gz",
    "before_optimizations.txt",
    "hlo_unoptimized_snapshot.pb",
)
_LONGEST_PATH = 4096  # A longer text is a program.
_BEGINS_OF_TEXT = ("HloModule", "module @", "module {", "module attributes", '"builtin.module"')  # No path begins so.
_BYTECODE_MAGIC = b"ML\xefR"  # MLIR's bytecode.
_STABLEHLO = re.compile(rb"\b(?:stablehlo|mhlo|vhlo)\.|func\.func\b|\"builtin\.module\"|^\s*module\b", re.MULTILINE)
_RESULT_INFO = re.compile(rb'jax\.result_info = "([^"]*)"')


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


def _begins_as_exported(data: bytes) -> bool:
    """Whether bytes begin like a flatbuffer: by a small offset of four bytes, of which protos and texts have no last one that is 0."""
    return data[3:4] == b"\0"


def _bytecode_of_exported(data: bytes) -> Optional[bytes]:
    """The StableHLO bytecode in what `jax.export.Exported.serialize()` wrote: a flatbuffer, in which its length stands before it."""
    at = data.find(_BYTECODE_MAGIC) if _begins_as_exported(data) else -1
    if at < 16 or b"StableHLO_v" not in data[at : at + 64]:
        return None
    size = int.from_bytes(data[at - 4 : at], "little")
    return data[at : at + size] if at + size <= len(data) else None


def is_stablehlo(data: bytes) -> bool:
    """Whether bytes begin like StableHLO, as text or as bytecode."""
    return data.startswith(_BYTECODE_MAGIC) or (
        not data.lstrip().startswith(b"HloModule") and _STABLEHLO.search(data[:4096]) is not None
    )


_PLATFORMS = ("cpu", "tpu", "cuda", "rocm", "gpu")


def require_platform(platform: Optional[str]) -> None:
    """Refuses what jax would lower for without a word.

    Raises:
      ToroidError: if the platform is neither one that jax has always nor one that is installed beside it.
    """
    if platform is None or platform in _PLATFORMS:
        return
    installed: Any = sys.modules["jax.extend.backend"].backends() if isinstance(platform, str) and "jax.extend.backend" in sys.modules else ()
    if platform not in installed:
        raise ToroidError(f"platform: jax has no platform {platform!r}; give one of {', '.join(_PLATFORMS)}")


def _lowered(traced: Any, platform: Optional[str]) -> Any:
    """Lowers for the platform; without one for the devices at hand, or for TPUs if the mesh has none."""
    try:
        return traced.lower(lowering_platforms=(platform,)) if platform else traced.lower()
    except ValueError:
        if platform:
            raise
        return traced.lower(lowering_platforms=("tpu",))


def _with_cells(module: bytes) -> bytes:
    """In a notebook, source files that are its cells are named as it names them: In[3]."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    name_of = getattr(getattr(shell, "compile", None), "format_code_name", None)
    if name_of is None:
        return module
    return with_file_names(module, lambda file: (name_of(file) or ("", file))[1])


class Source(NamedTuple):
    """A program in memory, and what it is called in messages."""

    data: bytes
    name: str
    results: Sequence[str] = ()  # Where each result is in the tree that a function of jax returns.


def source_of(x: Any, arguments: Optional[Sequence[Any]], platform: Optional[str]) -> Union[Path, Source]:
    """The file of a program, or the program.

    Args:
      x: what `toroid.load` takes.
      arguments: shapes for a TensorFlow function.
      platform: for a traced function of JAX.

    Raises:
      ToroidError: if x is none of these, or has several modules.
    """
    require_platform(platform)
    if isinstance(x, str) and (len(x) > _LONGEST_PATH or "\n" in x or x.lstrip().startswith(_BEGINS_OF_TEXT)):
        return _of_bytes(_encoded(x, "text"), "text")
    if isinstance(x, (str, os.PathLike)):
        if not os.fspath(x):
            raise ToroidError("the path is empty; '.' is the folder that Python works in")
        return _of_path(Path(os.fsdecode(x)))
    if isinstance(x, (bytes, bytearray, memoryview)):
        if memoryview(x).nbytes > MOST_BYTES:
            raise ToroidError(f"bytes: {memoryview(x).nbytes:,} of them, more than the {MOST_BYTES:,} that a module may have")
        return _of_bytes(bytes(x), "bytes")
    if hasattr(x, "read"):  # A file that is open.
        return _of_file(x)
    x = _inner(x)
    data = _of_framework(x, arguments, platform)
    if data is None:
        raise ToroidError(f"cannot load a program from {_kind(x)}{_hint(x)}")
    names = _result_names(x)
    return Source(with_result_names(_with_cells(data), names), _kind(x), names)


def _inner(x: Any) -> Any:
    """What equinox wraps around jax's own."""
    for name in ("traced", "lowered", "compiled"):
        if hasattr(getattr(x, name, None), "in_tree"):
            return getattr(x, name)
    return x


def _result_names(x: Any) -> list[str]:
    """The place of each result in the tree that a function of jax returns, as jax writes it: result['w']; [] if it is not known."""
    tree: Any = getattr(x, "out_tree", None)
    jax = sys.modules.get("jax")
    if jax is None or not hasattr(tree, "num_leaves"):
        return []
    try:
        found = jax.tree_util.tree_flatten_with_path(tree.unflatten(range(tree.num_leaves)))[0]
        return ["result" + jax.tree_util.keystr(path) for path, _ in found]
    except Exception:  # pylint: disable=broad-except
        return []  # A class of the author's that takes no numbers for its arrays.


def _kind(x: Any) -> str:
    return f"{type(x).__module__}.{type(x).__qualname__}".replace("._src.", ".")


def _encoded(text: str, name: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ToroidError(f"{name}: half a character at {error.start:,}: {text[error.start]!r}") from None


def _of_bytes(data: bytes, name: str) -> Source:
    data = _bytecode_of_exported(data) or data
    return _of_stablehlo(data, name, name) if _needs_jaxlib(data) else Source(data, name)


def _of_stablehlo(data: bytes, name: str, file_name: str) -> Source:
    """StableHLO as HLO with the names that jax gave the results, which jaxlib drops."""
    names = [] if data.startswith(_BYTECODE_MAGIC) else [text.decode("utf-8", "replace") for text in _RESULT_INFO.findall(data)]
    return Source(with_result_names(hlo_of_stablehlo(data, name), names), file_name, names)


def _needs_jaxlib(data: bytes) -> bool:
    """Whether jaxlib makes HLO of these bytes; without jaxlib, the commands read StableHLO text themselves."""
    return is_stablehlo(data) and (data.startswith(_BYTECODE_MAGIC) or importlib.util.find_spec("jaxlib") is not None)


def _of_path(path: Path) -> Union[Path, Source]:
    try:
        if path.is_dir():
            return _file_of_folder(path)
        if path.is_char_device() or path.is_block_device():
            raise ToroidError(f"{path}: a device, not a file")
        if path.is_file():
            _require_size(path.stat().st_size, str(path))
        with open(path, "rb") as file:
            if path.is_fifo():  # What was read of it, no command reads again.
                return _of_file(file)
            begin = file.read(4096)
            if _needs_jaxlib(begin) or _begins_as_exported(begin):
                data = begin + file.read()
                data = _bytecode_of_exported(data) or data
                if _needs_jaxlib(data):
                    return _of_stablehlo(data, str(path), path.name)
            return path
    except FileNotFoundError:
        raise ToroidError(f"{path}: no such file or folder") from None
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name.
        raise ToroidError(f"{path}: {getattr(error, 'strerror', None) or error}") from None


def _require_size(size: int, name: str) -> None:
    if size > MOST_BYTES:
        raise ToroidError(f"{name}: {size:,} bytes, more than the {MOST_BYTES:,} that a module may have")


def _of_file(file: Any) -> Source:
    name = str(getattr(file, "name", _kind(file)))
    try:
        _require_size(os.fstat(file.fileno()).st_size, name)
    except (AttributeError, OSError, TypeError, ValueError):  # No file of the system; reading says what is wrong.
        pass
    try:
        data = file.read(MOST_BYTES + 1)
    except Exception as error:
        raise ToroidError(f"{name}: {first_line(error)}") from None
    if len(data) > MOST_BYTES:
        raise ToroidError(f"{name}: more than the {MOST_BYTES:,} bytes that a module may have")
    return _of_bytes(_encoded(data, name) if isinstance(data, str) else bytes(data), Path(name).name)


def _require_one_program(exported: Any) -> None:
    """Refuses what jax exported for several platforms or shapes: each has a program of its own."""
    if len(exported.platforms) > 1:
        raise ToroidError(f"{_kind(exported)}: exported for {' and '.join(exported.platforms)}; export it for one of them: platforms=[{exported.platforms[0]!r}]")
    symbols = sorted({str(size) for aval in exported.in_avals for size in aval.shape if not isinstance(size, int)})
    if symbols:
        raise ToroidError(f"{_kind(exported)}: exported with symbolic shapes ({', '.join(symbols)}); export it for given shapes")


def _of_framework(x: Any, arguments: Optional[Sequence[Any]], platform: Optional[str]) -> Optional[bytes]:
    """The HLO proto of an object of JAX, TensorFlow, PyTorch/XLA or MLIR; None if it is of none."""
    if hasattr(x, "lower") and hasattr(x, "jaxpr"):  # jax.stages.Traced
        x = _lowered(x, platform)
    if hasattr(x, "compiler_ir"):  # jax.stages.Lowered
        try:
            return bytes(x.compiler_ir("hlo").as_serialized_hlo_module_proto())
        except Exception as error:
            raise ToroidError(f"{_kind(x)}: {first_line(error)}") from None
    if hasattr(x, "runtime_executable"):  # jax.stages.Compiled
        modules = x.runtime_executable().hlo_modules()
        if len(modules) != 1:
            raise ToroidError(f"a compiled function of {len(modules)} modules; load one of them by its bytes")
        return bytes(modules[0].as_serialized_hlo_module_proto())
    if hasattr(x, "mlir_module_serialized"):  # jax.export.Exported
        _require_one_program(x)
        return hlo_of_stablehlo(bytes(x.mlir_module_serialized), _kind(x))
    if hasattr(x, "experimental_get_compiler_ir"):  # A function of TensorFlow.
        return hlo_of_function(x, arguments)
    from_torch = hlo_of_torch(x, arguments, _needs_jaxlib)
    if from_torch is not None:
        return from_torch
    if hasattr(x, "as_serialized_hlo_module_proto"):  # An HloModule or XlaComputation of jaxlib.
        return bytes(x.as_serialized_hlo_module_proto())
    if hasattr(x, "operation") and hasattr(x.operation, "get_asm"):  # A module of MLIR.
        return hlo_of_stablehlo(str(x.operation.get_asm(enable_debug_info=True)).encode(), _kind(x))
    if hasattr(x, "SerializeToString"):  # A proto.
        return bytes(x.SerializeToString())
    return None


def _hint(x: Any) -> str:
    if hasattr(x, "structured_input_signature"):  # A function of TensorFlow for one signature.
        return "; load the tf.function that it was made of, with args=[tf.TensorSpec(...), ...]"
    if hasattr(x, "named_parameters"):  # A module of PyTorch.
        return "; export it: torch.export.export(module, args)"
    if hasattr(x, "trace") and hasattr(x, "lower"):  # jax.jit(f) itself.
        return "; give it arguments first: f.trace(*args) or f.lower(*args)"
    if type(x).__module__.split(".")[0] in ("jax", "jaxlib"):
        return "; load a lowered or traced function, not an array or a tracer"
    return ""
