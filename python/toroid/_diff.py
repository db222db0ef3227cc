"""Two partitioned programs side by side."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Optional

from toroid import _module, _render
from toroid._commands import Word, run
from toroid._program import Program
from toroid._results import Result

if TYPE_CHECKING:
    import pandas

_COSTS = ("sent", "flops", "memory")


class Diff(Result):
    """Where two partitioned programs differ: what each sends, computes and holds on one device."""

    @property
    def same(self) -> bool:
        """Whether both are the same program, names and order aside."""
        return bool(self._data["same"])

    @property
    def summary(self) -> str:
        """The first line of the text."""
        return str(self._data["summary"])

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A dict for each line of the author's program at which the programs send something else, largest difference first.

        Keys: kind ("changed", "only in a", "only in b", "elsewhere", "other time"), difference (bytes that b sends more), a, b, name,
        source, and the collectives of each side, parts_a and parts_b. The differences add up to that of `sent_bytes`; with a machine
        those of seconds_b and seconds_a add up to that of `collective_seconds`.
        """
        return list(self._data["sent"]["rows"])

    @property
    def difference(self) -> int:
        """Bytes that a device sends more in b than in a."""
        return int(self._data["b"]["sent_bytes"]) - int(self._data["a"]["sent_bytes"])

    def frame(self, of: str = "sent") -> "pandas.DataFrame":
        """The rows as a pandas frame.

        Args:
          of: "sent" (bytes), "flops", or "memory" (bytes at the peak).
        """
        if of not in _COSTS:
            raise ValueError(f"of={of!r}: give one of {', '.join(_COSTS)}")
        rows = [dict(row) for row in self._data[of]["rows"]]
        for row in rows:
            for side in ("a", "b"):
                row[f"parts_{side}"] = _parts_text(row[f"parts_{side}"])
        return _render.frame(rows)

    def _repr_html_(self) -> str:
        return _html(self._data)


def _parts_text(parts: list[dict[str, Any]]) -> str:
    """What one side of a row has.

    >>> _parts_text([{"times": 2, "what": "all-gather over 8"}, {"times": 1, "what": "all-reduce over 4"}])
    '2 × all-gather over 8, 1 × all-reduce over 4'
    """
    return ", ".join(f"{part['times']:,} × {part['what']}" for part in parts)


def _signed(number: int) -> str:
    """Bytes with a sign.

    >>> _signed(-57344), _signed(0), _signed(999)
    ('-57.3 kB', '0 B', '+999 B')
    """
    sign = "-" if number < 0 else "+" if number > 0 else ""
    return sign + _render.size(abs(number))


def _figures(data: dict[str, Any]) -> str:
    a, b = data["a"], data["b"]
    lines = [
        ("sent", _render.size(a["sent_bytes"]), _render.size(b["sent_bytes"])),
        ("collectives", f"{a['collectives']:,}", f"{b['collectives']:,}"),
        ("flops", f"{a['flops']:.4g}", f"{b['flops']:.4g}"),
        ("peak memory", _render.size(a["peak_bytes"]), _render.size(b["peak_bytes"])),
        ("instructions", f"{a['instructions']:,}", f"{b['instructions']:,}"),
    ]
    if "step_seconds" in a:
        lines.append((f"step on {data['machine']}", _render.seconds(a["step_seconds"]), _render.seconds(b["step_seconds"])))
    header = [("", True), ("A: " + a["label"], False), ("B: " + b["label"], False)]
    return _render._table(header, [[_render.escape(cell) for cell in line] for line in lines])


def _html(data: dict[str, Any]) -> str:
    """The table of `Diff` for a notebook."""
    out = f"<p><b>{_render.escape(data['summary'])}</b></p>"
    if data["same"]:
        return out
    out += _figures(data)
    rows = [row for row in data["sent"]["rows"] if row["kind"] not in ("elsewhere", "other time")]
    if not rows:
        return out
    header = [("sent", False), ("line", True), ("name", True), ("A", True), ("B", True)]
    cells = [
        [
            _signed(row["difference"]),
            _render.escape(row["source"]),
            _render.escape(row["name"]),
            _render.escape(_parts_text(row["parts_a"])),
            _render.escape(_parts_text(row["parts_b"])),
        ]
        for row in rows
    ]
    return out + _render._table(header, cells)


def diff(a: Any, b: Any, *, machine: Optional[str] = None, full: bool = False, progress: Optional[bool] = None) -> Diff:
    """Where two partitioned programs differ, as `hlo-diff`.

    Both are the program of one device, whoever partitioned it: a `Partitioned`, a `jax.stages.Compiled`, a dump of XLA after its
    partitioner, or anything else that `load` takes. Instructions are matched by what they compute, not by their names or order.

    Args:
      a: the first program.
      b: the second program.
      machine: a slice, such as "tpu-v3-128", whose predicted times are compared, too.
      full: whether the text has all rows; `rows` always has them.
      progress: as for `Module.partition`.

    Raises:
      ToroidError: if one of them is not partitioned, or they are for different numbers of devices.
    """
    programs = [x if isinstance(x, Program) else _module.load(x) for x in (a, b)]
    words: list[Word] = [programs[0].path, programs[1].path, "--json=-"]
    for given, program in zip((a, b), programs):
        is_path = isinstance(given, (str, os.PathLike)) and os.path.exists(given)
        words += ["--label", os.path.basename(given) if is_path else program.name]
    if machine is not None:
        words.append(f"--machine={machine}")
    if full:
        words.append("--full")
    data: dict[str, Any] = json.loads(run("hlo-diff", words, progress=progress, allowed_exits=(0, 1)))
    return Diff(data, str(data.pop("table")).rstrip("\n"))
