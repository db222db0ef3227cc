"""Searches the shardings of programs known from papers, and sets what is found beside what the papers' authors annotate.

    bazel build -c opt //partitioner:hlo-partition //hlo:hlo-convert && python3 benchmarks/found/measure.py [--write] [PROGRAM ...]

Needs jax, and matplotlib with --write or --pictures. Programs of programs.py are lowered without devices; hlo-partition searches them
on the mesh that the authors use, with the machine's memory or the one that the program states, and predicts the step; then the same
program with the authors' annotations. --keep=FOLDER leaves the modules and the commands there; --write writes
results/found_shardings.txt and its pictures.
"""

import argparse
import json
import math
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).absolute().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "python")]
os.environ["JAX_PLATFORMS"] = "cpu"
if "TOROID_BIN" not in os.environ and (ROOT / "bazel-bin/partitioner/hlo-partition").exists():
    os.environ["PATH"] = f"{ROOT}/bazel-bin/partitioner:{ROOT}/bazel-bin/hlo:{ROOT}/bazel-bin/simulator:{os.environ['PATH']}"


def binary(name):
    folder = os.environ.get("TOROID_BIN")
    return str(Path(folder) / name) if folder else name


class Failed(Exception):
    """A command's own words."""


def run(command):
    """Standard output, processor seconds and wall seconds of a command."""
    before, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if ran.returncode != 0:
        raise Failed(ran.stderr.strip().splitlines()[-1])
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return ran.stdout, used, time.perf_counter() - wall


def lowered(program, annotated):
    """The module of a program, as bytes."""
    import toroid.jax
    from decoders import whole

    step, args = program.make(program.pin if annotated else whole)
    options = {}
    if annotated:
        options = {"mesh": program.mesh, "in_shardings": program.specs, "out_shardings": (program.specs[0], None)}
    return toroid.jax.lower(step, *args, donate_argnums=0, **options).serialize()


def devices(program):
    return math.prod(program.mesh.values())


def modules(name, program, folder):
    """Writes the program without and with annotations, and returns the flags that free what is annotated."""
    if program.path is not None:
        path = str(ROOT / program.path) if isinstance(program.path, str) else program.path(folder)
        return path, path, ["--free=*"]
    plain, annotated = folder / f"{name}.hlo.pb", folder / f"{name}.annotated.hlo.pb"
    plain.write_bytes(lowered(program, False))
    annotated.write_bytes(lowered(program, True))
    return str(plain), str(annotated), ["--mesh=" + ",".join(f"{axis}={size}" for axis, size in program.mesh.items())]


def numbers(path):
    """What `PATH.stats.json` and the partitioned module `PATH.spmd.hlo.pb` say; bytes sent are those of a whole step."""
    stats = json.loads(Path(f"{path}.stats.json").read_text())
    explained = json.loads(run([binary("hlo-partition"), f"{path}.spmd.hlo.pb", "--explain=json"])[0])
    collectives = stats["collectives"].values()
    return {
        "ms": 1e3 * stats["predicted"]["step_seconds"],
        "collective_ms": 1e3 * stats["predicted"]["collective_seconds"],
        "collectives": sum(c["count"] for c in collectives),
        "sent": explained["sent_bytes"],
        "peak": stats["memory"]["peak"],
        "kinds": {kind: c["count"] for kind, c in stats["collectives"].items()},
    }


def outputs(path):
    return [f"--stats={path}.stats.json", "-o", f"{path}.spmd.hlo.pb"]


def measured(name, program, folder, log):
    """What was found for a program, and what its authors' annotations give."""
    plain, annotated, flags = modules(name, program, folder)
    machine = f"--machine={program.machine or f'tpu-v3-{max(devices(program), 8)}'}"
    memory = [f"--memory={program.memory}"] if program.memory else []
    ours = [binary("hlo-partition"), plain, "--search=shardings", *flags, machine, *memory]
    ours += [f"--annotations={folder / name}.annotations", *outputs(folder / name)]
    theirs = [binary("hlo-partition"), annotated, machine, *outputs(folder / f"{name}.annotated")]
    log.append("\n".join((f"# {program.title}", shlex.join(ours), shlex.join(theirs), "")))
    row = {"name": name, "title": program.title, "devices": devices(program)}
    (folder / f"{name}.annotations").unlink(missing_ok=True)
    run(theirs)
    row["theirs"] = numbers(folder / f"{name}.annotated")
    try:
        text, row["seconds"], row["wall"] = run(ours)
    except Failed as failed:
        return row | {"failed": str(failed)}
    (folder / f"{name}.found.txt").write_text(text)
    if program.drawn:
        again = [binary("hlo-partition"), plain, *flags, machine, f"--annotations={folder / name}.annotations", "--explain=plan"]
        row["plan"] = run(again)[0]
    gap, few = re.search(r"at most ([\d.]+) % above", text), re.search(r"found: (\d+) annotation", text)
    row |= {"gap": float(gap[1]) if gap else None, "annotations": int(few[1]) if few else None}
    return row | {"ours": numbers(folder / name), "text": text}


HEAD = (
    "Found by search beside the annotations of the papers' authors, predicted on the same slice. `search`: processor seconds, all",
    "threads; -: not measured. `gap`: how far the choice may be above the best one, by prices; `named`: annotations that suffice.",
    "Collectives count once in a loop, what they send in each trip.",
    "",
    f"{'program':44}{'devices':>8}{'search':>9}{'found':>12}{'theirs':>12}{'ratio':>7}{'collectives':>13}{'sent, GB':>16}"
    f"{'memory, GB':>16}{'named':>7}{'gap':>8}",
)


def span(ms):
    return f"{ms:.1f} ms" if ms < 10000 else f"{ms / 1e3:.2f} s "


def line(row):
    theirs = row["theirs"]
    begin = f"{row['title']:44}{row['devices']:8,}"
    if "failed" in row:
        return f"{begin}{'':9}{'-':>12}{span(theirs['ms']):>12}  {row['failed']}"
    ours = row["ours"]
    pair = lambda key: " / ".join(f"{size:.2f}" if size < 100 else f"{size:.0f}" for size in (ours[key] / 1e9, theirs[key] / 1e9))
    gap = "-" if row["gap"] is None else f"{row['gap']:.2f} %"
    seconds = "-" if row["seconds"] is None else f"{row['seconds']:.1f} s"
    return (
        f"{begin}{seconds:>9}{span(ours['ms']):>12}{span(theirs['ms']):>12}{ours['ms'] / theirs['ms']:7.3f}"
        f"{str(ours['collectives']) + ' / ' + str(theirs['collectives']):>13}{pair('sent'):>16}{pair('peak'):>16}"
        f"{'given' if row['annotations'] is None else row['annotations']:>7}{gap:>8}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--keep", type=Path, help="a folder for modules and commands")
    parser.add_argument("--write", action="store_true", help="results/found_shardings.txt and its pictures")
    parser.add_argument("--pictures", type=Path, help="a folder for the pictures alone")
    parser.add_argument("--rows", type=Path, help="a JSON file of rows that were measured before; new ones are added")
    options = parser.parse_args()
    import programs

    known = programs.programs()
    unknown = [name for name in options.programs if name not in known]
    if unknown:
        raise SystemExit(f"no program {unknown[0]}; there are {', '.join(known)}")
    rows = json.loads(options.rows.read_text()) if options.rows and options.rows.exists() else {}
    log = []
    print("\n".join(HEAD), flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        folder.mkdir(exist_ok=True, parents=True)
        for name, program in known.items():
            if name in options.programs or (not options.programs and name not in rows):
                try:
                    rows[name] = measured(name, program, folder, log)
                except Failed as failed:
                    raise SystemExit(f"{name}: {failed}") from None
                if options.rows:
                    options.rows.write_text(json.dumps(rows, indent=1))
            if name in rows:
                print(line(rows[name] | {"title": program.title}), flush=True)
        if options.keep:
            with open(folder / "README", "a", encoding="utf-8") as readme:
                readme.writelines(entry + "\n" for entry in log)
    shown = [rows[name] | {"title": program.title} for name, program in known.items() if name in rows]
    results = HERE.parent / "results"
    if options.write:
        (results / "found_shardings.txt").write_text("\n".join((*HEAD, *map(line, shown))) + "\n")
    if options.write or options.pictures:
        import pictures

        out = options.pictures or results
        pictures.bars(shown, out / "found_shardings.svg")
        for row in shown:
            if "plan" in row:
                pictures.network_plan(row, known[row["name"]].mesh, out / f"found_{row['name']}.svg")


if __name__ == "__main__":
    main()
