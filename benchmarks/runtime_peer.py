"""hlo-run beside jaxlib's compiled run, program by program, in the same minute.

    bazel build -c opt //runtime:hlo-run && python3 benchmarks/runtime_peer.py [--write] [PROGRAM ...]

Needs jax. Each program of runtime_programs.py is lowered by jax; jaxlib runs what it compiled, and hlo-run runs the same HLO in a
process of its own, in turn, as often as --rounds says. A row states the least processor time of each (user and system, all
threads: on a machine that does other work, wall time says little), their ratio, the wall time of each, what jaxlib took to
compile, and how far the two results are apart. --write writes results/runtime_peer.txt.
"""

import argparse
import os
import resource
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

os.environ["JAX_PLATFORMS"] = "cpu"
HERE = Path(__file__).absolute().parent


def processor_seconds(who):
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def measure(work, who):
    """The result of the work, its processor seconds and its wall seconds."""
    wall, used = time.perf_counter(), processor_seconds(who)
    result = work()
    return result, processor_seconds(who) - used, time.perf_counter() - wall


def run_here(command):
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise SystemExit(ran.stderr.strip())
    return float(ran.stdout.split()[-1])


def row(name, binary, rounds):
    import jax

    import runtime_programs

    lowered = jax.jit(runtime_programs.entry(name)).lower()
    begin = time.perf_counter()
    compiled = lowered.compile()
    compile_seconds = time.perf_counter() - begin
    compiled().block_until_ready()
    with tempfile.NamedTemporaryFile(suffix=".hlo.pb") as file:
        file.write(lowered.compiler_ir("hlo").as_serialized_hlo_module_proto())
        file.flush()
        command = [binary, file.name, "--num_partitions=1"]
        theirs, ours = [], []
        for _ in range(rounds):
            theirs.append(measure(lambda: float(compiled()), resource.RUSAGE_SELF))
            ours.append(measure(lambda: run_here(command), resource.RUSAGE_CHILDREN))
    least = lambda runs, i: 1e3 * min(run[i] for run in runs)
    expected, found = theirs[0][0], ours[0][0]
    return {
        "name": name,
        "jaxlib": least(theirs, 1),
        "hlo_run": least(ours, 1),
        "jaxlib_wall": least(theirs, 2),
        "hlo_run_wall": least(ours, 2),
        "compile": 1e3 * compile_seconds,
        "apart": abs(found - expected) / max(abs(expected), 1.0),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--binary", default=str(HERE.parent / "bazel-bin/runtime/hlo-run"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    import runtime_programs

    lines = [
        "Processor milliseconds of one process of hlo-run, and of jaxlib's compiled program alone; wall milliseconds of both on two",
        "cores; what jaxlib took to compile; the difference of the results relative to the larger of jaxlib's and 1.",
        "",
        f"{'program':24}{'jaxlib':>9}{'hlo-run':>9}{'ratio':>7}{'wall':>9}{'wall':>9}{'compile':>9}{'apart':>10}",
    ]
    print("\n".join(lines), flush=True)
    ratios = []
    for name in options.programs or runtime_programs.PROGRAMS:
        found = row(name, options.binary, options.rounds)
        ratio = found["hlo_run"] / found["jaxlib"]
        ratios.append(ratio)
        lines.append(
            f"{name:24}{found['jaxlib']:9.1f}{found['hlo_run']:9.1f}{ratio:7.2f}{found['jaxlib_wall']:9.1f}"
            f"{found['hlo_run_wall']:9.1f}{found['compile']:9.0f}{found['apart']:10.1e}"
        )
        print(lines[-1], flush=True)
    lines.append(
        f"median of the ratios {statistics.median(ratios):.2f}; above 1.6: {sum(r > 1.6 for r in ratios)} of {len(ratios)}"
    )
    print(lines[-1])
    if options.write:
        (HERE / "results/runtime_peer.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
