"""What the search finds for MaxText's training steps without their annotations, on the chips that they were written for.

    bazel build -c opt //partitioner:hlo-partition //simulator:hlo-simulate && python3 benchmarks/found/freed.py [--write] [MODULE ...]

Takes the modules of tests/corpus/training_steps. Each is searched with all annotations taken off, within the memory of a device, or within
what the program needs with MaxText's annotations if that is more. --write writes results/found_freed.txt.
"""

import argparse
import csv
import json
import re
import tempfile
from pathlib import Path

from measure import HERE, ROOT, Failed, binary, run

STEPS = ROOT / "tests/corpus/training_steps"
HEAD = """MaxText's training steps with their annotations taken off: what is found beside MaxText's own, both predicted on the chips that they
were written for. `search`: processor seconds; `gap`: how far the choice may be above the best one, by prices; `named`: annotations
that suffice. A ratio of 1.000 without annotations: nothing better than MaxText's was found.

module                    slice             search       found   MaxText's  ratio   memory, GB      named     gap
"""


def figures(module, machine, arguments, folder):
    """Seconds of a step and bytes of memory of the program, what the command printed, and its processor seconds."""
    stats = folder / "stats.json"
    text, used, _ = run(
        [binary("hlo-partition"), str(module), f"--machine={machine}", *arguments, f"--stats={stats}", "-o", str(folder / "program.hlo.pb")]
    )
    run([binary("hlo-simulate"), str(folder / "program.hlo.pb"), f"--machine={machine}", "--json", str(folder / "time.json")])
    seconds = json.loads((folder / "time.json").read_text())["step_seconds"]
    return seconds, json.loads(stats.read_text())["memory"]["peak"], text, used


def row(name, machine, folder):
    module = STEPS / f"{name}.shardy.hlo.pb.gz"
    theirs, their_memory, _, _ = figures(module, machine, [], folder)
    arguments = ["--search=shardings", "--free=*"]
    try:
        ours, memory, text, used = figures(module, machine, arguments, folder)
    except Failed:
        ours, memory, text, used = figures(module, machine, [*arguments, f"--memory={their_memory}"], folder)
    named = re.search(r"found: (\d+) annotations?", text)
    gap = re.search(r"at most ([\d.]+ %) above the best", text)
    return (
        f"{name:<25} {machine:<15} {used:6.1f} s {ours:9.3f} s {theirs:9.3f} s  {ours / theirs:5.3f}  {memory / 1e9:5.2f} / {their_memory / 1e9:5.2f}"
        f"  {named.group(1) if named else '-':>5}  {gap.group(1) if gap else '-':>6}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    rows = []
    print(HEAD, end="")
    with open(STEPS / "index.tsv", encoding="utf-8") as index, tempfile.TemporaryDirectory() as folder:
        for step in csv.DictReader(index, delimiter="\t"):
            if options.modules and step["module"] not in options.modules:
                continue
            rows.append(row(step["module"], step["slice"], Path(folder)))
            print(rows[-1], flush=True)
    if options.write:
        (HERE.parent / "results/found_freed.txt").write_text(HEAD + "\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
