"""Programs of PyTorch: exported ones, and tensors that PyTorch/XLA has yet to compute."""

from __future__ import annotations

import importlib
import re
from typing import Any, Callable, Mapping, Optional, Sequence

from toroid._commands import ToroidError, first_line, run
from toroid._files import Files
from toroid._jaxlib import hlo_of_stablehlo
from toroid._protos import Origin, module_in, with_origins


def hlo_of_torch(x: Any, arguments: Any, reads_text: Callable[[bytes], bool]) -> Optional[bytes]:
    """The HLO proto of an object of PyTorch, with the names of its parameters; None if x is no such object.

    Args:
      x: a `torch.export.ExportedProgram`, a `StableHLOGraphModule` of torch_xla, a tensor on a device of XLA, or several of them, whose
        computation is then the program.
      arguments: for tensors, a mapping of names to the tensors they are computed from, such as `dict(model.named_parameters())`.
      reads_text: whether jaxlib makes HLO of such text; else a command does.
    """
    if hasattr(x, "graph_signature") and hasattr(x, "state_dict"):
        inputs = [str(name) for name in x.graph_signature.user_inputs]
        return _of_graph_module(_imported("torch_xla.stablehlo").exported_program_to_stablehlo(x), inputs, reads_text)
    if hasattr(x, "get_stablehlo_text"):
        return _of_graph_module(x, [], reads_text)
    tensors = list(x) if isinstance(x, (list, tuple)) else [x]
    if tensors and all(getattr(getattr(tensor, "device", None), "type", "") == "xla" for tensor in tensors):
        return _of_tensors(tensors, arguments)
    return None


def _imported(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ToroidError(f"programs of PyTorch are read with torch_xla: pip install torch_xla ({first_line(error)})") from None


def _of_graph_module(module: Any, inputs: Sequence[str], reads_text: Callable[[bytes], bool]) -> bytes:
    try:
        text = _without_locations(str(module.get_stablehlo_text("forward"))).encode()
        locations = module._bundle.stablehlo_funcs[0].meta.input_locations
    except Exception as error:
        raise ToroidError(f"PyTorch/XLA: {first_line(error)}") from None
    names = [location.name or _argument(inputs, location.position) for location in locations]
    if reads_text(text):
        proto = hlo_of_stablehlo(text, "PyTorch/XLA")
    else:
        files = Files()
        out = files.folder / "forward.hlo.pb"
        run("hlo-convert", [files.write("forward.mlir", text), "-o", out])
        proto = module_in(out.read_bytes(), "HloProto")
    return _with_names(proto, names)


def _without_locations(text: str) -> str:
    """StableHLO as torch_xla prints it with XLA_IR_DEBUG=1, without the locations: they are not MLIR's, and of the exporter's own code.

    >>> _without_locations('#loc1 = a.py:1:0\\n#loc2 = #loc1\\n at #loc1\\nmodule @m {\\n  %0 = stablehlo.tanh %a : t "tanh"(#loc1)\\n} [unknown]')
    'module @m {\\n  %0 = stablehlo.tanh %a : t\\n}'
    """
    lines = [line for line in text.splitlines() if not line.startswith(("#loc", " at #loc"))]
    return re.sub(r' "[^"]*"\(#loc\d*\)| \[unknown\]', "", "\n".join(lines))


def _argument(inputs: Sequence[str], position: int) -> str:
    return inputs[position] if 0 <= position < len(inputs) else f"args[{position}]"


def _of_tensors(tensors: Sequence[Any], arguments: Any) -> bytes:
    xla: Any = getattr(_imported("torch_xla"), "_XLAC")
    try:
        proto = bytes(xla._get_xla_tensors_hlo_proto(list(tensors)))
        read, _ = xla._get_tensors_xla_device_data_node(list(tensors))
        given = arguments if isinstance(arguments, Mapping) else {}
        names = {xla._xla_get_tensor_id(tensor): name for name, tensor in given.items()}
    except Exception as error:
        raise ToroidError(f"PyTorch/XLA: {first_line(error)}") from None
    return _with_names(proto, [str(names.get(number, "")) for number in read])


def _with_names(proto: bytes, names: Sequence[str]) -> bytes:
    def origin(_: str, number: int) -> Optional[Origin]:
        return Origin(names[number]) if 0 <= number < len(names) and names[number] else None

    return with_origins(proto, origin)
