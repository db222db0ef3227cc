"""What commands find out: tables for people and objects for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toroid import _render

if TYPE_CHECKING:
    import pandas


class Text(str):
    """Lines of a command, which a terminal or a notebook shows as they are."""

    def to_dict(self) -> dict[str, Any]:
        """The lines under the key `text`."""
        return {"text": str(self)}

    def __repr__(self) -> str:
        return str(self)


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
    """The collectives of a partitioned program, with what needs them."""

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
        return _render.explanation(self._data)


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
