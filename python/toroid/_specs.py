"""Shardings in the commands' texts, as one writes them with jax: P('data', None)."""

from __future__ import annotations

import math
import re
from typing import Any, Mapping, Optional, Sequence

import numpy as np

from toroid._jaxlib import parse_cut

# What cuts each dimension, by the names of axes: [{"data"}, {}]. A part of an axis, "data":(1)2, has no PartitionSpec.
_DIMENSIONS = re.compile(r'''(?<![\w\]])\[(?:\{(?:"[^"]*"(?:, )?)*\}(?:, )?)*\]''')
_PARTIAL = re.compile(r'''partial over \{((?:"[^"]*"(?:, )?)+)\}''')
_HLO = re.compile(r"(?:'|\")(\{(?:devices=[^'\"]*|replicated)\})(?:'|\")")


def spec_of(dimensions: Sequence[Sequence[str]]) -> str:
    """The axes of each dimension as a PartitionSpec.

    >>> spec_of([["data", "model"], [], ["rows"]])
    "P(('data', 'model'), None, 'rows')"
    """
    entries: list[Any] = [None if not axes else axes[0] if len(axes) == 1 else tuple(axes) for axes in dimensions]
    return f"P({', '.join(map(repr, entries))})"


def spec_of_hlo(text: str, axes: Mapping[str, int]) -> Optional[str]:
    """An HLO sharding over devices as a PartitionSpec over the axes of a mesh, in whose order they are; None if it is none.

    >>> spec_of_hlo("{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}", {"data": 2, "model": 4})
    "P(None, 'model')"
    >>> spec_of_hlo("{devices=[8,1]<=[4,2]T(1,0)}", {"data": 2, "model": 4}) is None
    True
    """
    if text == "{replicated}":
        return "P()"
    found = re.fullmatch(r"\{devices=\[([\d,]+)\][\d,]*(?:<=\[[\d,]+\](?:T\([\d,]+\))?)?( last_tile_dim_replicate)?\}", text)
    if found is None:
        return None
    sizes, names = list(axes.values()), list(axes)
    tiles = [int(size) for size in found.group(1).split(",")]
    if math.prod(tiles) != math.prod(sizes):
        return None
    rank, count = len(tiles) - (found.group(2) is not None), math.prod(sizes)
    cut = parse_cut(text, rank, count).tiles
    index = np.zeros((count, rank), np.int64)  # The tile of each device.
    index[cut.reshape(-1)] = np.indices(cut.shape)[:rank].reshape(rank, -1).T
    coordinates = np.indices(sizes).reshape(len(sizes), -1)
    dimensions: list[list[int]] = [[] for _ in range(rank)]
    steps = [index[math.prod(sizes[axis + 1 :])] if sizes[axis] > 1 else np.zeros(rank) for axis in range(len(sizes))]
    for axis in sorted(range(len(sizes)), key=lambda axis: -max(steps[axis], default=0)):
        for moved in np.flatnonzero(steps[axis]):
            dimensions[int(moved)].append(axis)
    for dimension, cutting in enumerate(dimensions):
        whole = np.zeros(count, np.int64)
        for axis in cutting:
            whole = whole * sizes[axis] + coordinates[axis]
        if not np.array_equal(whole, index[:, dimension]):
            return None
    return spec_of([[names[axis] for axis in cutting] for cutting in dimensions])


def in_specs(text: str, axes: Optional[Mapping[str, int]]) -> str:
    """A text of the commands with PartitionSpecs in the place of shardings.

    Args:
      text: what in_python made of it.
      axes: the mesh of the module; None if it names no axes: the text stays as it is.

    >>> print(in_specs('h: [{"data"}, {}] partial over {"model"} -> [{"data"}, {}] of f32[]', {"data": 2, "model": 4}))
    h: P('data', None) partial over 'model' -> P('data', None) of f32[]
    >>> print(in_specs("shardings={'w': '{devices=[2,1,4]<=[8] last_tile_dim_replicate}'}", {"data": 2, "model": 4}))
    shardings={'w': P('data', None)}
    """
    if not axes:
        return text

    def of_dimensions(match: re.Match[str]) -> str:
        return spec_of([re.findall('"([^"]*)"', dimension) for dimension in re.findall(r"\{([^}]*)\}", match.group(0))])

    def of_partial(match: re.Match[str]) -> str:
        return "partial over " + ", ".join(repr(axis) for axis in re.findall('"([^"]*)"', match.group(1)))

    def of_hlo(match: re.Match[str]) -> str:
        return spec_of_hlo(match.group(1), axes) or match.group(0)

    return _HLO.sub(of_hlo, _PARTIAL.sub(of_partial, _DIMENSIONS.sub(of_dimensions, text)))
