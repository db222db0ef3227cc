"""Pictures of found shardings: bars of what is found beside what experts annotate, and a plan as boxes."""

import math
import re

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams["svg.hashsalt"] = "found"  # The same picture on each run.

from matplotlib import patches, pyplot  # noqa: E402  pylint: disable=wrong-import-position

OURS, THEIRS, WHOLE = "#1f77b4", "#c7c7c7", "#e8e8e8"
COLOURS = ("#4c9ed9", "#f2a24a", "#76b86f", "#c879b8")  # Of axes.


def save(figure, path):
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None, dpi=150)
    pyplot.close(figure)


def bars(rows, path):
    """Step times relative to those by the experts' annotations, computation and communication."""
    rows = [row for row in rows if "ours" in row]
    figure, axes = pyplot.subplots(figsize=(9, 0.34 * len(rows) + 1.2), layout="constrained")
    for place, row in enumerate(rows):
        for shift, key, colour in ((-0.19, "theirs", THEIRS), (0.19, "ours", OURS)):
            time, whole = row[key]["ms"], row["theirs"]["ms"]
            share = row[key]["collective_ms"] / time
            axes.barh(place + shift, time / whole, 0.36, color=colour)
            axes.barh(place + shift, time / whole * share, 0.36, color="none", edgecolor="#303030", hatch="////", linewidth=0)
        ratio = row["ours"]["ms"] / row["theirs"]["ms"]
        axes.text(max(1.0, ratio) + 0.01, place, f"{ratio:.2f}", va="center", fontsize=8)
    axes.set_yticks(range(len(rows)), [f"{row['title']}, {row['devices']:,} devices" for row in rows], fontsize=8)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.axvline(1, color="#808080", linewidth=0.8)
    axes.set_xlim(0, 1.25)
    axes.set_xlabel("predicted step time, relative to that of the experts' annotations")
    handles = [
        patches.Patch(color=THEIRS, label="experts' annotations"),
        patches.Patch(color=OURS, label="found, without annotations"),
        patches.Patch(facecolor="none", edgecolor="#303030", hatch="////", label="of it communication"),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=3, fontsize=8, frameon=False)
    save(figure, path)


def rows_of_plan(text):
    """(name, sizes, axes of each dimension) of each value of `--explain=plan`."""
    found = []
    for name, dtype, shape, sharding in re.findall(r"^\S*?/(\S+) +([a-z]+\d*)\[([\d,]*)\] +\[(.*?)\]  ", text, re.M):
        sizes = [int(size) for size in shape.split(",") if size]
        cuts = [re.findall(r'"([^"]+)"', dim) for dim in re.findall(r"\{([^}]*)\}", sharding)]
        found.append((name, dtype, sizes, cuts))
    return found


def box(axes, left, bottom, side, cuts, mesh, colours, label, size):
    """An array: a square of its bytes' area, in as many stripes as its dimensions are cut, each cut dimension in its axis's colour."""
    cut = [(dim, part) for dim, parts in enumerate(cuts) for part in parts]
    colour = colours[cut[0][1]] if cut else WHOLE
    axes.add_patch(patches.Rectangle((left, bottom), side, side, facecolor=colour, edgecolor="#404040", linewidth=0.8))
    last = len(cuts) - 1
    for dim, axis in cut:
        parts = mesh[axis]
        upright = dim == last and dim > 0  # Features are cut by upright lines, batches and rows by level ones.
        if len(cut) > 1 and (dim, axis) != cut[0]:
            axes.add_patch(patches.Rectangle((left + side / 2, bottom), side / 2, side, facecolor=colours[axis], edgecolor="none"))
        for i in range(1, parts):
            at = side * i / parts
            line = ((left + at,) * 2, (bottom, bottom + side)) if upright else ((left, left + side), (bottom + at,) * 2)
            axes.plot(*line, color="white", linewidth=0.7, solid_capstyle="butt")
    axes.text(left + side / 2, bottom - 0.05, f"{label}\n{size}", ha="center", va="top", fontsize=6.5)


def plan(layers, mesh, title, path):
    """`layers`: (title, [(what, bytes, cuts of dimensions, label)]) with the layer's weight first."""
    colours = dict(zip(mesh, COLOURS))
    figure, axes = pyplot.subplots(figsize=(10, 3.6), layout="constrained")
    largest = max(size for _, arrays in layers for _, size, _, _ in arrays)
    for place, (name, arrays) in enumerate(layers):
        axes.text(place + 0.5, 2.75, name, ha="center", fontsize=9, weight="bold")
        for row, (_, size, cuts, label) in enumerate(arrays):
            side = max(0.06, 0.82 * math.sqrt(size / largest))
            text = f"{size / 1e6:.1f} MB" if size < 1e8 else f"{size / 1e6:.0f} MB"
            box(axes, place + 0.5 - side / 2, (1.75, 0.35)[row], side, cuts, mesh, colours, label, text)
    for row, what in ((1.75, "weight"), (0.35, "activation")):
        axes.text(-0.1, row + 0.3, what, rotation=90, va="center", ha="center", fontsize=9)
    handles = [patches.Patch(color=colours[axis], label=f"cut over {axis!r} ({size} devices)") for axis, size in mesh.items()]
    handles.append(patches.Patch(facecolor=WHOLE, edgecolor="#404040", label="whole on each device"))
    axes.legend(handles=handles, loc="lower center", bbox_to_anchor=(0.5, -0.12), ncols=len(handles), fontsize=8, frameon=False)
    axes.set_xlim(-0.2, len(layers))
    axes.set_ylim(-0.1, 3)
    axes.set_title(title, fontsize=10)
    axes.axis("off")
    save(figure, path)


BYTES = {"f32": 4, "s32": 4, "bf16": 2, "pred": 1}


def network_plan(row, mesh, path):
    """The plan of a network of convolutions and dense layers: each layer's weight and what it makes."""
    layers, weight = [], None
    for name, dtype, sizes, cuts in rows_of_plan(row["plan"]):
        array = (math.prod(sizes) * BYTES[dtype], cuts, " x ".join(map(str, sizes)))
        if found := re.match(r"state_0___(convolution|dense)s?___(\d)___w__", name):
            weight = (f"{found[1]} {int(found[2]) + 1}", array)
        elif weight is not None and re.match(r"conv_general_dilated|dot_general", name):
            layers.append((weight[0], [(weight[0], *weight[1]), (weight[0], *array)]))
            weight = None
    ours, theirs = row["ours"]["ms"], row["theirs"]["ms"]
    title = f"{row['title']} on {row['devices']} devices, as found: {ours:.1f} ms a step; by the paper's rule {theirs:.1f} ms"
    plan(layers, mesh, title, path)
