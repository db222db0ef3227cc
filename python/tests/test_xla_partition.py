"""tools/xla_partition.py: Toroid's program beside that of XLA's partitioner in the installed jaxlib."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import toroid

ROOT = Path(__file__).absolute().parents[2]
CORPUS = ROOT / "tests/corpus/jax"


def run(*arguments):
    return subprocess.run([sys.executable, ROOT / "tools/xla_partition.py", *map(str, arguments)], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", ["lm_scan_layers.gspmd.snapshot.pb", "lm_uneven_mesh.shardy.hlo.pb", "manual_collectives.shardy.hlo.pb"])
def test_every_difference_from_xla_is_in_a_row(name, tmp_path):
    theirs = tmp_path / "xla.hlo.pb"
    done = run(CORPUS / name, "-o", theirs, "--json=-")
    assert done.returncode == 1, done.stderr
    data = json.loads(done.stdout)
    assert data["a"]["label"] == "Toroid" and data["b"]["label"] == "XLA"
    for costs in (data["sent"], data["flops"], data["memory"]):
        assert costs["b"] - costs["a"] == sum(row["difference"] for row in costs["rows"])
    assert toroid.diff(theirs, theirs).same
    assert toroid.diff(theirs, theirs)["a"]["sent_bytes"] == data["b"]["sent_bytes"] > 0


def test_what_xla_runs_in_the_end_sends_as_much(tmp_path):
    program = CORPUS / "lm_fsdp_tensor_parallel.shardy.hlo.pb"
    partitioned, optimized = tmp_path / "partitioned.hlo.pb", tmp_path / "optimized.hlo.pb"
    assert run(program, "-o", partitioned).returncode == 1
    assert run(program, "--stage=optimized", "-o", optimized).returncode == 1
    diff = toroid.diff(partitioned, optimized)
    assert diff.difference == 0 and diff["instructions"]["only_b"] > 0


def test_errors_are_one_line(tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    for arguments, message in (
        ([tmp_path / "empty"], "the input is empty"),
        ([tmp_path / "missing"], "missing"),
        ([CORPUS / "lm_uneven_mesh.shardy.hlo.pb", "--num_partitions=7"], "7"),
    ):
        done = run(*arguments)
        assert done.returncode == 2 and len(done.stderr.splitlines()) == 1 and message in done.stderr, done.stderr
