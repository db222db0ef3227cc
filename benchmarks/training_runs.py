"""Predicted times of training steps beside those that Google published: MaxText on TPU v5e, v5p, v6e and TPU7x.

    bazel build -c opt //simulator:hlo-simulate && python3 benchmarks/training_runs.py [--write] [MODULE ...]

tests/corpus/training_steps/index.tsv has a row for each published run: the module (MaxText lowered ahead of time, not yet
partitioned), the slice, and the seconds of a step. hlo-simulate partitions each module and predicts the step. Rows marked "fitted" are
those from which `simple.product_efficiency` and `data_centre.step_seconds` of the machine files come; the others are predictions. Of the rows
of assumed.tsv (TPU7x) the batch is published, and the rest of the settings is not at hand: they stand apart. --write writes
results/training_runs.txt and, with matplotlib, results/training_runs.svg.
"""

import argparse
import csv
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).absolute().parent
ROOT = HERE.parent
SIMULATOR = ROOT / "bazel-bin/simulator/hlo-simulate"
MODULES = ROOT / "tests/corpus/training_steps"
# Percent of the peak on one slice, of rows that are also published on several.
PUBLISHED_MFU = {"v5e_16b": 61.10, "v5e_32b": 66.86, "v5e_128b": 56.06}
HEAD = """Seconds of a training step, predicted from MaxText's modules and published; written by benchmarks/training_runs.py --write.
Where the predicted time goes: products, attention kernels, collectives that nothing hides, copies to and from the host that nothing
hides, all else. Two kinds of numbers of the machine files were fitted to the rows that say so: the part of the peak that products reach, on
one slice, and the time of a step of a ring between slices, on several. Of TPU7x's rows the batch is published; sharding and rematerialization are
assumed (tests/corpus/training_steps/assumed.tsv).
"""


def predict(module, machine):
    """The prediction of hlo-simulate, as its JSON says it."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "prediction.json"
        command = [str(SIMULATOR), str(MODULES / f"{module}.shardy.hlo.pb.gz"), f"--machine={machine}", f"--json={out}"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return json.loads(out.read_text())


def parts(prediction):
    """Seconds of a step by what they are spent on."""
    collectives = {row["kind"] for row in prediction["collectives"]}
    seconds = {"products": 0.0, "attention": 0.0, "other": 0.0}
    for name, value in prediction["breakdown"].items():
        if name in collectives:
            continue
        kind = {"dot": "products", "custom-call": "attention"}.get(name, "other")
        seconds[kind] += value
    seconds["exposed"] = prediction["communication"]["exposed_seconds"]
    seconds["host"] = prediction["host_copies"]["exposed_seconds"]
    return seconds


def rows(wanted):
    for name in ("index.tsv", "assumed.tsv"):
        with open(MODULES / name, newline="") as file:
            for row in csv.DictReader(file, delimiter="\t"):
                if not wanted or row["module"] in wanted:
                    yield row


def is_assumed(row):
    return "settings" in row


def slices(row):
    count = row["slice"].split("x")[0]
    return int(count) if count.isdigit() else 1


def place_of(row):
    if is_assumed(row):
        return "settings assumed"
    return "several slices" if slices(row) > 1 else "one slice"


def scaling(measured):
    """What of the peak is lost from one slice to several, in points: MFU is inverse to the time of a step."""
    lines = []
    steps = {(row["module"].rsplit("_", 1)[0] if slices(row) > 1 else row["module"], slices(row)): (float(row["seconds"]), step)
             for row, step, _ in measured}
    for (module, count), (published, predicted) in steps.items():
        if count == 1 or (module, 1) not in steps or module not in PUBLISHED_MFU:
            continue
        mfu, (one_published, one_predicted) = PUBLISHED_MFU[module], steps[module, 1]
        lost = mfu * (1 - one_published / published)
        ours = mfu * one_published * (1 / one_predicted - 1 / predicted)
        lines.append(f"\n{module}, 1 to {count} slices: {lost:.1f} points of MFU lost as published, {ours:.1f} as predicted")
    return lines


def table(measured):
    lines = [HEAD]
    form = "{:24} {:14} {:>9} {:>9} {:>7}  {:>8} {:>9} {:>8} {:>6} {:>6}  {}"
    lines.append(form.format("module", "slice", "published", "predicted", "error", "products", "attention", "exposed",
                             "host", "other", "fitted"))
    for row, step, where in measured:
        error = step / float(row["seconds"]) - 1
        lines.append(form.format(row["module"], row["slice"], f"{float(row['seconds']):.2f}", f"{step:.2f}",
                                 f"{100 * error:+.1f} %", f"{where['products']:.2f}", f"{where['attention']:.2f}",
                                 f"{where['exposed']:.2f}", f"{where['host']:.2f}", f"{where['other']:.2f}",
                                 "yes" if row["fitted"] == "yes" else ""))
    for place in ("one slice", "several slices", "settings assumed"):
        for text, chosen in (("predicted", "no"), ("fitted", "yes")):
            errors = [
                abs(step / float(row["seconds"]) - 1)
                for row, step, _ in measured
                if row["fitted"] == chosen and place_of(row) == place
            ]
            if errors:
                lines.append(f"\n{place}, {len(errors)} {text} rows: mean error {100 * statistics.mean(errors):.1f} %, largest "
                             f"{100 * max(errors):.1f} %")
    lines += scaling(measured)
    return "\n".join(lines) + "\n"


def plot(measured, path):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "training runs"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(9, 1 + 0.27 * len(measured)))
    places = range(len(measured))
    left = [0.0] * len(measured)
    colors = {"products": "#3b6ea5", "attention": "#8a63a8", "exposed": "#c8553d", "host": "#d9a441", "other": "#9a9a9a"}
    texts = {"exposed": "collectives that nothing hides", "host": "copies that nothing hides"}
    for kind, color in colors.items():
        shares = [where[kind] / float(row["seconds"]) for row, _, where in measured]
        axes.barh(places, shares, left=left, color=color, label=texts.get(kind, kind))
        left = [a + b for a, b in zip(left, shares)]
    axes.axvline(1, color="black", linewidth=1, label="published")
    axes.set_yticks(list(places), [f"{row['module']}{' *' if row['fitted'] == 'yes' else ' +' if is_assumed(row) else ''}" for row, _, _ in measured])
    axes.invert_yaxis()
    axes.set_xlabel("predicted step over published step (* fitted, + settings assumed)")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, frameon=False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", metavar="MODULE")
    parser.add_argument("--write", action="store_true", help="write results/training_runs.*")
    arguments = parser.parse_args()
    measured = []
    for row in rows(arguments.modules):
        prediction = predict(row["module"], row["slice"])
        measured.append((row, prediction["step_seconds"], parts(prediction)))
    if not measured:
        sys.exit("training_runs: no row of index.tsv has such a name")
    text = table(measured)
    print(text, end="")
    if arguments.write:
        (HERE / "results/training_runs.txt").write_text(text)
        plot(measured, HERE / "results/training_runs.svg")


if __name__ == "__main__":
    main()
