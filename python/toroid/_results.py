"""What commands find out: tables for people and objects for programs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Mapping, Optional

from toroid import _render
from toroid._specs import in_specs
from toroid._spelling import in_python

if TYPE_CHECKING:
    import pandas


class Text(str):
    """Lines of a command, which a terminal or a notebook shows as they are."""

    def to_dict(self) -> dict[str, Any]:
        """The lines under the key `text`."""
        return {"text": str(self)}

    def __repr__(self) -> str:
        return str(self)


class FoundShardings(Text):
    """Shardings that a search found: the command's lines, and the annotations by name.

    Attributes:
      specs: by name (`params['w']`, `output{0}`, an op's name) what cuts each dimension: None, an axis or a tuple of axes.
      shardings: the same as texts of HLO shardings, as `partition(shardings=...)` takes them.
      mesh: the axes and sizes that were chosen; None if the mesh was given.
    """

    specs: dict[str, tuple[Any, ...]]
    shardings: dict[str, str]
    mesh: Optional[dict[str, int]]

    @classmethod
    def read(cls, text: str, annotations: str) -> FoundShardings:
        """The result of a search from its lines and its file of annotations."""
        found = cls(text)
        found.specs, found.shardings, found.mesh = {}, {}, None
        spec: tuple[Any, ...] = ()
        for line in annotations.splitlines():
            if chosen := re.match(r"# to be given with --mesh=(.*)", line):
                found.mesh = {name: int(size) for name, size in (axis.split("=") for axis in chosen[1].split(","))}
            elif line.startswith("# ["):
                spec = tuple(_spec_of(dim) for dim in re.findall(r"\{([^}]*)\}", line.rpartition("]")[0]))
            elif line and not line.startswith("#"):
                name, _, sharding = line.rpartition("={")
                found.specs[name] = spec
                found.shardings[name] = "{" + sharding
        return found

    def to_dict(self) -> dict[str, Any]:
        """The keys `text`, `specs`, `shardings` and `mesh`."""
        return {"text": str(self), "specs": self.specs, "shardings": self.shardings, "mesh": self.mesh}


def _spec_of(dim: str) -> Any:
    axes = re.findall(r'"([^"]*)"', dim)
    return None if not axes else axes[0] if len(axes) == 1 else tuple(axes)


class Result:
    """What a command found out: a table for people and an object for programs.

    In a terminal it prints as the command's table, in a notebook as a page's table.
    """

    def __init__(self, data: dict[str, Any], text: str):
        self._data, self._text = data, text

    def to_dict(self) -> dict[str, Any]:
        """The command's JSON; docs/commands.md describes its keys and units."""
        return self._data

    def __getitem__(self, key: str) -> Any:
        return self._data[key]

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        return f"<pre>{_render.escape(self._text)}</pre>"


class Explanation(Result):
    """The collectives of a partitioned program, with what needs them.

    Shardings are printed as `PartitionSpec`s where the program names its axes; in rows they are as the command writes them.
    """

    def __init__(self, data: dict[str, Any], table: str, axes: Optional[Mapping[str, int]] = None):
        super().__init__(data, in_specs(in_python(table), axes))
        self._axes = axes

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A dict for each row, most bytes first: opcode, count, trips, group, operand_bytes, sent_bytes (per device), name, step, source."""
        return list(self._data["rows"])

    @property
    def notes(self) -> list[dict[str, Any]]:
        """Arrays that are replicated, cut unevenly, or not cut as they were asked to be."""
        return list(self._data["notes"])

    @property
    def sent_bytes(self) -> int:
        """Bytes that each device sends."""
        return int(self._data["sent_bytes"])

    def frame(self) -> "pandas.DataFrame":
        """The rows as a pandas frame."""
        return _render.frame(self.rows)

    def _repr_html_(self) -> str:
        return _render.explanation(self._data, lambda text: in_specs(text, self._axes))


class Check(Result):
    """How the partitioned program's values compare with those of the unpartitioned one."""

    @property
    def equal(self) -> bool:
        return bool(self._data["equal"])

    def __bool__(self) -> bool:
        return self.equal


class Simulation(Result):
    """A predicted execution on a slice of a pod."""

    @property
    def step_seconds(self) -> float:
        return float(self._data["step_seconds"])

    @property
    def groups(self) -> list[dict[str, Any]]:
        """The instructions and fusions that take time, longest first."""
        return list(self._data["groups"])

    @property
    def collectives(self) -> list[dict[str, Any]]:
        return list(self._data["collectives"])

    def _repr_html_(self) -> str:
        return _render.simulation_page(self._data)

    def frame(self) -> "pandas.DataFrame":
        """Groups and collectives as a pandas frame, with seconds and share of the step."""
        return _render.frame(self.groups + self.collectives)
