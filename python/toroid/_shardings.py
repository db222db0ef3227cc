"""Spells shardings as the commands read them."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Iterable, Mapping, Optional

from toroid._commands import ToroidError


def mesh_axes(mesh: Any) -> Optional[dict[str, int]]:
    """The axes of a mesh with their sizes, in order.

    Args:
      mesh: a mapping from names to sizes, a text such as "data=2,model=4", a `jax.sharding.Mesh` or `AbstractMesh`, or None.
    """
    if mesh is None:
        return None
    if isinstance(mesh, str):
        axes = {}
        for part in mesh.split(","):
            name, equals, size = part.strip().partition("=")
            if not equals or not name or not size.isdigit():
                raise ToroidError(f"mesh {mesh!r}: expected NAME=SIZE,NAME=SIZE")
            axes[name] = int(size)
        return axes
    shape = mesh if isinstance(mesh, Mapping) else getattr(mesh, "shape", None)
    if not isinstance(shape, Mapping):
        raise ToroidError(f"mesh: expected a mapping of names to sizes or a jax mesh, got {type(mesh).__name__}")
    for name, size in shape.items():
        if isinstance(size, bool) or not isinstance(size, Integral) or size < 1:
            raise ToroidError(f"mesh: the size of axis {name!r} is a number of devices, not {size!r}")
    return {str(name): int(size) for name, size in shape.items()}


def names_of(names: Any, argument: str) -> list[str]:
    """The texts of an argument that takes one or several.

    >>> names_of("w", "free"), names_of(("w", "b"), "free")
    (['w'], ['w', 'b'])
    """
    if isinstance(names, str):
        return [names]
    if isinstance(names, Mapping) or not isinstance(names, Iterable):
        raise ToroidError(f"{argument}: expected a text or several, got {type(names).__name__}")
    found = list(names)
    for name in found:
        if not isinstance(name, str):
            raise ToroidError(f"{argument}: expected texts, got {name!r}")
    return found


def _axes_of_dimension(entry: Any) -> list[str]:
    if entry is None:
        return []
    if isinstance(entry, str):
        return [entry]
    if isinstance(entry, (tuple, list)) and all(isinstance(axis, str) for axis in entry):
        return list(entry)
    raise ToroidError(f"a dimension of a spec is None, an axis or a tuple of axes, not {entry!r}")


def sharding_of(name: str, sharding: Any, rank: Optional[int], axes: Optional[Mapping[str, int]]) -> str:
    """As `sharding_text`, whose errors begin with the array's name."""
    try:
        return sharding_text(sharding, rank, axes)
    except ToroidError as error:
        raise ToroidError(f"{name}: {error}") from None


def sharding_text(sharding: Any, rank: Optional[int], axes: Optional[Mapping[str, int]]) -> str:
    """The text of a sharding.

    Args:
      sharding: text as in HLO (returned as it is), a `PartitionSpec` or tuple with an entry for each dimension, or a `NamedSharding`.
      rank: the rank of the array; dimensions that a spec does not mention are whole. None: those mentioned are all.
      axes: the axes of the mesh; None: the module's own mesh is meant.
    """
    if isinstance(sharding, str):
        return sharding
    spec = getattr(sharding, "spec", None)
    if spec is not None:  # NamedSharding.
        axes, sharding = mesh_axes(sharding.mesh), spec
    try:
        entries = list(sharding)
    except TypeError:
        raise ToroidError(
            f"expected a PartitionSpec, a tuple, a NamedSharding or a text, got {type(sharding).__name__}"
        ) from None
    dimensions = [_axes_of_dimension(entry) for entry in entries]
    if rank is not None and len(dimensions) > rank:
        raise ToroidError(f"{sharding} has {len(dimensions)} dimensions, the array has {rank}")
    dimensions += [[] for _ in range((rank or 0) - len(dimensions))]
    cutting = sum(dimensions, [])
    for axis in cutting:
        if cutting.count(axis) > 1:
            raise ToroidError(f"{sharding} uses axis {axis!r} twice")
    if axes is not None:
        for axis in cutting:
            if axis not in axes:
                raise ToroidError(f"the mesh has no axis {axis!r}; it has {', '.join(axes)}")
    cuts = ", ".join("{" + ", ".join(f'"{axis}"' for axis in dimension) + "}" for dimension in dimensions)
    if axes is None:
        return f"[{cuts}]"
    sizes = ",".join(f'"{name}"={size}' for name, size in axes.items())
    return "{mesh[" + sizes + f"], [{cuts}]" + "}"
