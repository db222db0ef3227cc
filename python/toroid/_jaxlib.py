"""What the installed jaxlib does: StableHLO in and out, and partitioned programs on its devices."""

from __future__ import annotations

import re
from typing import Any, Callable, NamedTuple, Optional, Sequence

import numpy as np

from toroid._arrays import Array, arguments_of
from toroid._commands import ToroidError, first_line

def _xla_mlir(purpose: str) -> Any:
    try:
        from jaxlib import xla_client  # pylint: disable=import-outside-toplevel
    except ImportError:
        raise ToroidError(f"{purpose} with jaxlib, which is not installed: pip install jaxlib") from None
    return getattr(xla_client, "_xla").mlir


def hlo_of_stablehlo(data: bytes, name: str = "StableHLO") -> bytes:
    """The HLO proto of a StableHLO module.

    Args:
      data: text, bytecode or a portable artifact.
      name: what the module is called in errors.
    """
    if b"_platform_index" in data:
        raise ToroidError(f"{name}: exported for several platforms; export it for one of them: platforms=['tpu']")
    mlir = _xla_mlir(f"{name}: StableHLO bytecode is read")
    try:
        computation = mlir.mlir_module_to_xla_computation(data, use_tuple_args=False, return_tuple=False)
    except Exception as error:  # jaxlib raises its own kinds.
        if b"jax.uses_shape_polymorphism" in data and "can't be translated" in str(error):
            raise ToroidError(f"{name}: exported with symbolic shapes; export it for given shapes") from None
        raise ToroidError(f"{name}: {first_line(error)}") from None
    return bytes(computation.as_serialized_hlo_module_proto())


class Cut(NamedTuple):
    """How an array lies on devices: `tiles[i, j, .., :]` are the devices that hold tile (i, j, ..)."""

    tiles: np.ndarray  # Device numbers, a dimension for each of the array's and one for copies.
    owner: Optional[int] = None  # The only device whose copy counts.


def parse_cut(text: str, rank: int, num_devices: int) -> Cut:
    """The devices of a sharding by its text in HLO.

    >>> parse_cut("{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}", 2, 4).tiles.tolist()
    [[[0, 2]], [[1, 3]]]
    >>> parse_cut("{replicated}", 1, 2).tiles.tolist()
    [[0, 1]]
    """
    whole = np.arange(num_devices).reshape((1,) * rank + (num_devices,))
    found = re.search(r"devices=\[([\d,]+)\](?:<=\[([\d,]+)\](?:T\(([\d,]+)\))?|([\d,]+))", text)
    if found is None:
        maximal = re.search(r"maximal device=(\d+)", text)
        return Cut(whole, int(maximal.group(1)) if maximal else None)
    dims, reshape, permutation, listed = ([int(n) for n in group.split(",")] if group else [] for group in found.groups())
    devices = np.array(listed) if listed else np.arange(num_devices).reshape(reshape)
    if permutation:
        devices = devices.transpose(permutation)
    return Cut(devices.reshape(dims[:rank] + [-1]))


def _split(text: str) -> list[str]:
    """The shardings of a tuple's sharding, or the only one.

    >>> _split("{{replicated}, {devices=[2]<=[2]}}"), _split("{manual}")
    (['{replicated}', '{devices=[2]<=[2]}'], ['{manual}'])
    """
    return re.findall(r"\{[^{}]*(?:\{[^{}]*\}[^{}]*)?\}", text[1:-1]) if text.startswith("{{") else [text]


class _Place:
    """Where a whole array lies on the devices of jax, and the arrays of all devices stacked along dimension 0."""

    def __init__(self, jax: Any, array: Array, cut: Cut, devices: Sequence[Any]):
        self.array, self._jax, self._cut = array, jax, cut
        axes = [f"d{i}" for i in range(cut.tiles.ndim)]
        meshes = jax.sharding.Mesh(np.array(devices, dtype=object)[cut.tiles], axes)
        self._sharding = jax.sharding.NamedSharding(meshes, jax.sharding.PartitionSpec(*axes[:-1]))
        tiles = cut.tiles.shape[:-1]
        # Tiles of equal size cover the array, the last ones more than that.
        self.local = tuple(-(-size // count) for size, count in zip(array.shape, tiles))
        self._padded = tuple(size * count for size, count in zip(self.local, tiles))
        # One number of all devices is the same on each; other arrays are stacked.
        self.spec = jax.sharding.PartitionSpec("devices") if array.shape else jax.sharding.PartitionSpec()
        self._stack = jax.sharding.NamedSharding(jax.sharding.Mesh(np.array(devices, dtype=object), ["devices"]), self.spec)
        self._stacked = (len(devices) * self.local[0], *self.local[1:]) if array.shape else ()

    def stack(self, value: Any) -> Any:
        jax = self._jax
        if self._padded != self.array.shape:
            padding = [(0, large - small) for large, small in zip(self._padded, self.array.shape)]
            value = jax.numpy.pad(value, padding)
        placed = jax.device_put(value, self._sharding)
        return self._restack(placed, self._stacked, self._stack)

    def whole(self, stack: Any) -> Any:
        if self._cut.owner is not None:
            return stack.addressable_shards[self._cut.owner].data
        placed = self._restack(stack, self._padded, self._sharding)
        return placed if self._padded == self.array.shape else placed[tuple(slice(size) for size in self.array.shape)]

    def _restack(self, value: Any, shape: tuple[int, ...], sharding: Any) -> Any:
        shards = [shard.data for shard in value.addressable_shards]
        return self._jax.make_array_from_single_device_arrays(shape, sharding, shards, dtype=value.dtype)


# Collectives of StableHLO that may have several operands.
_OF_SEVERAL = ("stablehlo.all_gather", "stablehlo.all_reduce", "stablehlo.all_to_all")


def _split_collectives(ir: Any, module: Any) -> None:
    """Writes collectives of several arrays as one for each: XLA compiles no others inside `shard_map`.

    Each collective then has a channel of its own, so that two of them never meet.
    """
    several, channels = [], []

    def note(operation: Any) -> Any:
        if operation.name in _OF_SEVERAL and len(operation.operands) > 1:
            several.append(operation)
        return ir.WalkResult.ADVANCE

    def number(operation: Any) -> Any:
        if "channel_handle" in operation.attributes and operation.name not in ("stablehlo.send", "stablehlo.recv"):
            channels.append(operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(note)
    for operation in several:
        with ir.InsertionPoint(operation), operation.location:
            for operand, result in zip(operation.operands, operation.results):
                copy, named = operation.clone(), [operation.attributes[i] for i in range(len(operation.attributes))]
                attributes = {one.name: one.attr for one in named}
                part = ir.Operation.create(
                    operation.name, [result.type], [operand], attributes, regions=len(operation.regions)
                )
                for region, target in zip(copy.regions, part.regions):
                    region.blocks[0].append_to(target)
                copy.erase()
                result.replace_all_uses_with(part.result)
        operation.erase()
    module.operation.walk(number)
    for handle, operation in enumerate(channels, 1):
        kind = "type = 1"  # Between devices.
        operation.attributes["channel_handle"] = ir.Attribute.parse(f"#stablehlo.channel_handle<handle = {handle}, {kind}>")


def _program_primitive(jax: Any, text: str, results: Sequence[Any]) -> Any:
    """A primitive of jax that is one device's program."""
    from jax.extend.core import Primitive  # pylint: disable=import-outside-toplevel
    from jax.interpreters import mlir  # pylint: disable=import-outside-toplevel
    from jaxlib.mlir.dialects import func  # pylint: disable=import-outside-toplevel

    primitive: Any = Primitive("toroid_program")
    primitive.multiple_results = True
    primitive.def_abstract_eval(lambda *_: [jax.core.ShapedArray(place.local, place.array.dtype) for place in results])

    def lower(context: Any, *values: Any) -> Any:
        module = mlir.ir.Module.parse(text, context.module_context.context)
        operations: list[Any] = list(module.body.operations)
        _split_collectives(mlir.ir, module)
        main = next(operation for operation in operations if operation.sym_name.value == "main")
        # The shardings of whole arrays, which say nothing of shards.
        main.arg_attrs = mlir.ir.ArrayAttr.get([mlir.ir.DictAttr.get({}) for _ in main.arguments])
        types = main.type.results
        name = mlir.merge_mlir_modules(
            context.module_context.module, "toroid_program", module, dst_symtab=context.module_context.symbol_table
        )
        return func.CallOp(types, mlir.ir.FlatSymbolRefAttr.get(name), list(values)).results

    mlir.register_lowering(primitive, lower)
    return primitive


def _recorded_shardings(jax_mlir: Any, text: str) -> tuple[list[str], list[str]]:
    """The shardings of parameters and of results that a partitioned program records."""
    with jax_mlir.make_ir_context():
        attributes = jax_mlir.ir.Module.parse(text).operation.attributes
        parameters = "mhlo.spmd_parameters_shardings"
        inputs = [text.value for text in attributes[parameters]] if parameters in attributes else []
        return inputs, _split(attributes["mhlo.spmd_output_sharding"].value)


def _devices(jax: Any, devices: Optional[Sequence[Any]], count: int) -> list[Any]:
    try:
        found = list(jax.devices() if devices is None else devices)
    except TypeError:
        raise ToroidError(f"devices: expected a list of devices of jax, got {type(devices).__name__}") from None
    for device in found:
        if not isinstance(device, jax.Device):
            raise ToroidError(f"devices: {device!r} is no device of jax")
    if len(found) < count or (devices is not None and len(found) != count):
        raise ToroidError(
            f"the program is for {count} devices, jax has {len(found)}; before jax starts, "
            f"jax.config.update('jax_num_cpu_devices', {count}) makes as many of the host"
        )
    return found[:count]


def callable_of(
    text: str, parameters: Sequence[Array], results: Sequence[Array], num_devices: int, devices: Optional[Sequence[Any]]
) -> Callable[..., list[Any]]:
    """A function on arrays of jax that runs a partitioned program on its devices.

    Args:
      text: the StableHLO of one device's program.
      parameters, results: the whole arrays.
      num_devices: how many devices it is for.
      devices: the devices of jax, in the order of the program's; None: the first of all.
    """
    try:
        import jax  # pylint: disable=import-outside-toplevel
        from jax.interpreters import mlir  # pylint: disable=import-outside-toplevel
    except ImportError:
        raise ToroidError("as_jax() needs jax, which is not installed: pip install jax") from None
    chosen = _devices(jax, devices, num_devices)
    cuts_in, cuts_out = _recorded_shardings(mlir, text)

    def places(arrays: Sequence[Array], texts: Sequence[str]) -> list[_Place]:
        return [_Place(jax, a, parse_cut(text, len(a.shape), num_devices), chosen) for a, text in zip(arrays, texts)]

    inputs, outputs = places(parameters, cuts_in), places(results, cuts_out)
    for place in (*inputs, *outputs):
        if jax.dtypes.canonicalize_dtype(place.array.dtype) != place.array.dtype:
            raise ToroidError(f"the program has arrays of {place.array.dtype}: jax.config.update('jax_enable_x64', True) first")
    primitive = _program_primitive(jax, text, outputs)
    mesh = jax.sharding.Mesh(np.array(chosen, dtype=object), ["devices"])
    step = jax.jit(
        jax.shard_map(
            lambda *shards: tuple(primitive.bind(*shards)),
            mesh=mesh,
            in_specs=tuple(place.spec for place in inputs),
            out_specs=tuple(place.spec for place in outputs),
            check_vma=False,
        )
    )

    def run(*args: Any) -> list[Any]:
        stacks = [place.stack(value) for place, value in zip(inputs, arguments_of(args, parameters, (jax.Array,)))]
        try:
            produced = step(*stacks)
        except Exception as error:
            raise ToroidError(f"jaxlib: {first_line(error)}") from None
        return [place.whole(stack) for place, stack in zip(outputs, produced)]

    return run
