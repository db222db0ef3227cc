"""Programs of TensorFlow's functions, with the author's names and lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Iterator, Optional, Sequence

from toroid._commands import ToroidError, first_line
from toroid._protos import Origin, with_origins

_HERE = str(Path(__file__).parent) + "/"


def hlo_of_function(f: Any, arguments: Optional[Sequence[Any]]) -> bytes:
    """The HLO proto of a `tf.function` that is compiled for these arguments (arrays or `tf.TensorSpec`s).

    TensorFlow calls every parameter XLA_Args and gives lines of its own; names and lines here are those of its graph.
    """
    if arguments is None:
        raise ToroidError("a TensorFlow function needs the shapes of its arguments: toroid.load(f, args=[tf.TensorSpec(...), ...])")
    try:
        proto = bytes(f.experimental_get_compiler_ir(*arguments)(stage="hlo_serialized"))
        concrete = f.get_concrete_function(*arguments)
    except Exception as error:  # Of many kinds; their first line says what is wrong.
        raise ToroidError(f"TensorFlow: {first_line(error)}") from None
    names = _parameter_names(concrete)
    lines = {name: line for graph in _graphs(concrete.graph) for name, line in _lines(graph)}

    def origin(op_name: str, number: int) -> Optional[Origin]:
        if op_name == "XLA_Args" and 0 <= number < len(names):
            return Origin(names[number])
        at = op_name
        while at and at not in lines:  # Ops that one op becomes have longer names.
            at = at.rpartition("/")[0]
        return Origin(op_name, *lines[at]) if at else None

    return with_origins(proto, origin)


def _parameter_names(concrete: Any) -> list[str]:
    """Names of arguments and of variables, in the order of the parameters."""
    handles = {id(variable.handle): variable.name.partition(":")[0] for variable in concrete.variables}
    captured = {inner.name: handles.get(id(outer)) for outer, inner in concrete.graph.captures}
    names: list[str] = []
    for tensor in concrete.inputs:
        name = wanted = captured.get(tensor.name) or tensor.name.partition(":")[0]
        count = 1
        while name in names:  # Variables without a name of their own are all called Variable.
            name, count = f"{wanted}_{count}", count + 1
        names.append(name)
    return names


def _graphs(graph: Any) -> Iterator[Any]:
    """A graph and those of its loops, branches and calls."""
    seen: set[str] = set()
    waiting = [graph]
    while waiting:
        graph = waiting.pop()
        yield graph
        for operation in graph.get_operations():
            for value in operation.node_def.attr.values():
                for called in [value.func.name, *(f.name for f in value.list.func)]:
                    if called and called not in seen:
                        seen.add(called)
                        function = graph._get_function(called)  # No public way leads to it.
                        if function is not None:
                            waiting.append(function.graph)


def _lines(graph: Any) -> Iterator[tuple[str, tuple[str, int]]]:
    """Each op with the innermost line outside of libraries that made it."""
    for operation in graph.get_operations():
        for frame in reversed(operation.traceback or ()):
            if "site-packages/" not in frame.filename and "/lib/python3" not in frame.filename and not frame.filename.startswith(_HERE):
                yield operation.name, (frame.filename, frame.lineno)
                break
