"""Tables for terminals and notebooks."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, Callable, Iterable, Optional

if TYPE_CHECKING:
    import pandas

# Colors follow the notebook's theme; numbers are aligned to the right.
_STYLE = (
    "<style>.toroid{border-collapse:collapse;font-size:13px}.toroid td,.toroid th{padding:2px 10px;text-align:right;border:0;"
    "border-bottom:1px solid color-mix(in srgb,currentColor 15%,transparent)}.toroid td.l,.toroid th.l{text-align:left}"
    ".toroid .bar{display:inline-block;height:8px;background:#3b82c4;vertical-align:middle}</style>"
)


def escape(text: str) -> str:
    return html.escape(text)


def size(number: float) -> str:
    """Bytes as text.

    >>> size(999), size(57344), size(2.5e9)
    ('999 B', '57.3 kB', '2.5 GB')
    """
    for unit, limit in (("B", 1e3), ("kB", 1e6), ("MB", 1e9), ("GB", 1e12)):
        if number < limit:
            return f"{number / (limit / 1e3):.{0 if unit == 'B' else 1}f} {unit}"
    return f"{number / 1e12:.1f} TB"


def seconds(number: float) -> str:
    """A time as text.

    >>> seconds(75.4e-6), seconds(0.24)
    ('75.4 us', '240 ms')
    """
    for unit, scale in (("ns", 1e9), ("us", 1e6), ("ms", 1e3)):
        value = number * scale
        if value < 999.5:
            return f"{value:.3g} {unit}"
    return f"{number:.3g} s"


def frame(rows: list[dict[str, Any]]) -> "pandas.DataFrame":
    try:
        import pandas  # pylint: disable=import-outside-toplevel
    except ImportError:
        raise ImportError("frame() needs pandas: pip install pandas") from None
    return pandas.DataFrame(rows)


def _table(header: Iterable[tuple[str, bool]], rows: Iterable[Iterable[str]]) -> str:
    columns = list(header)
    classes = [' class="l"' if left else "" for _, left in columns]
    out = [_STYLE, '<table class="toroid"><thead><tr>']
    out += [f"<th{c}>{escape(name)}</th>" for (name, _), c in zip(columns, classes)]
    out.append("</tr></thead><tbody>")
    for row in rows:
        out.append("<tr>" + "".join(f"<td{c}>{cell}</td>" for cell, c in zip(row, classes)) + "</tr>")
    out.append("</tbody></table>")
    return "".join(out)


def _trips(row: dict[str, Any]) -> str:
    count = f"{row['count']:,}"
    if not row["in_loop"]:
        return count
    return f"{count} × {row['trips']:,} trips" if row["trips"] is not None else f"{count} in a loop"


def explanation(data: dict[str, Any], spelled: Callable[[str], str]) -> str:
    """The page's table of `Explanation`, its shardings spelled by a function of texts."""
    rows, timed = data["rows"], "step_seconds" in data
    total = max(sum(row["sent_bytes"] for row in rows), 1)
    header = [("collective", True), ("count", False), ("group", False), ("sent", False), ("share", True)]
    if timed:
        header += [("time", False)]
    header += [("needed by", True), ("from → to", True), ("line", True)]
    cells = []
    for row in rows:
        share = row["sent_bytes"] / total
        cell = [
            escape(row["opcode"]),
            _trips(row),
            "?" if row["group"] == 0 else str(row["group"]),
            size(row["sent_bytes"]),
            f'<span class="bar" style="width:{60 * share:.0f}px"></span> {100 * share:.1f} %',
        ]
        if timed:
            cell.append(seconds(row["seconds"]))
        cell += [escape(row["name"]), escape(spelled(row["step"]).replace(" -> ", " → ")), escape(row["source"])]
        cells.append(cell)
    out = f"<p>Each device sends <b>{size(data['sent_bytes'])}</b>.</p>" + _table(header, cells)
    notes = "".join(f"<li>{escape(spelled(n['text']))}</li>" for n in data["notes"])
    return out + (f"<ul>{notes}</ul>" if notes else "")


def simulation_page(data: dict[str, Any]) -> str:
    """The page's table of `Simulation`."""
    step = max(data["step_seconds"], 1e-30)
    cells = [
        [escape(kind), seconds(time), f'<span class="bar" style="width:{200 * time / step:.0f}px"></span> {100 * time / step:.1f} %']
        for kind, time in sorted(data["breakdown"].items(), key=lambda item: -item[1])
    ]
    head = (
        f"<p>{escape(data['module'])} on {data['devices']} cores of {escape(data['machine'])}: <b>{seconds(data['step_seconds'])}</b> "
        f"a step, {100 * data['communication_share']:.1f} % of it communication.</p>"
    )
    return head + _table([("kind", True), ("time", False), ("share of the step", True)], cells)


def check(data: dict[str, Any]) -> str:
    return f"{data['verdict']}: {data['outputs']} outputs on {data['num_partitions']} devices, largest relative error {data['max_rel_error']:.1e}"


def simulation(data: dict[str, Any]) -> str:
    """The terminal's table of `Simulation`."""
    lines = [
        f"{data['module']} on {data['devices']} cores of {data['machine']}: {seconds(data['step_seconds'])} a step, "
        f"{100 * data['communication_share']:.1f} % of it communication"
    ]
    for kind, time in sorted(data["breakdown"].items(), key=lambda item: -item[1]):
        lines.append(f"  {kind:<20} {seconds(time):>9} {100 * time / max(data['step_seconds'], 1e-30):6.1f} %")
    return "\n".join(lines)
