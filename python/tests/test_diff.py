"""Two partitioned programs side by side."""

from pathlib import Path

import pytest

import toroid

TESTS = Path(__file__).absolute().parents[2] / "tests"
PROGRAM = TESTS / "corpus/jax/lm_fsdp_tensor_parallel.shardy.hlo.pb"
THEIRS = TESTS / "corpus/xla_partitioned/lm_fsdp_tensor_parallel.shardy.spmd.hlo.pb.gz"

LAYER = """HloModule layer

ENTRY main {
  x = f32[64,128] parameter(0), metadata={op_name="x"}
  w = f32[128,512] parameter(1), metadata={op_name="w"}
  ROOT y = f32[64,512] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""


def test_a_program_beside_itself_is_the_same():
    partitioned = toroid.load(PROGRAM).partition()
    diff = toroid.diff(partitioned, partitioned)
    assert diff.same and diff.rows == [] and diff.difference == 0
    assert repr(diff).startswith("the same program: ")
    assert diff.summary in diff._repr_html_()
    assert toroid.diff(partitioned, partitioned.text()).same


def test_what_xla_does_otherwise_is_in_rows():
    diff = toroid.diff(toroid.load(PROGRAM).partition(), THEIRS)
    assert not diff.same
    assert diff.summary.startswith(f"B ({THEIRS.name}) sends 131.3 kB per device, 43.1 kB more than A (jit_lm_fsdp_tensor_parallel), ")
    assert diff.difference == sum(row["difference"] for row in diff.rows) > 0
    assert diff.rows[0]["source"] == "programs/jax_programs.py:254"
    assert diff.rows[0]["parts_a"][0]["what"] == "reduce-scatter over 4"
    assert diff.to_dict()["schema_version"] == 1
    assert "table" not in diff.to_dict()
    text = repr(diff)
    assert text.splitlines()[0] == diff.summary
    assert "programs/jax_programs.py:254" in text
    page = diff._repr_html_()
    assert page.count("<table") == 2 and "6 × reduce-scatter over 4" in page and "programs/jax_programs.py:254" in page
    assert len(repr(toroid.diff(toroid.load(PROGRAM).partition(), THEIRS, full=True))) > len(text)


def test_frames_have_a_row_for_each_line():
    diff = toroid.diff(toroid.load(PROGRAM).partition(), THEIRS)
    frame = diff.frame()
    assert frame["difference"].sum() == diff.difference
    assert "6 × reduce-scatter over 4" in set(frame["parts_a"])
    memory = diff.frame("memory")
    assert memory["difference"].sum() == diff["b"]["peak_bytes"] - diff["a"]["peak_bytes"]
    with pytest.raises(ValueError, match="sent, flops, memory"):
        diff.frame("bytes")


def test_a_machine_adds_times():
    module = toroid.load(LAYER)
    rows = module.partition(8, shardings={"w": "{devices=[8,1]<=[8]}"})
    columns = module.partition(8, shardings={"w": "{devices=[1,8]<=[8]}"})
    diff = toroid.diff(rows, columns, machine="tpu-v3-8")
    assert diff["a"]["step_seconds"] > diff["b"]["step_seconds"] > 0
    assert diff.difference < 0
    assert "step on tpu-v3-8" in diff._repr_html_()
    assert {change["name"] for change in diff["shardings"]} >= {"w"}


def test_what_cannot_be_compared_is_an_error():
    partitioned = toroid.load(PROGRAM).partition()
    with pytest.raises(toroid.ToroidError, match="is not partitioned yet"):
        toroid.diff(partitioned, PROGRAM)
    other = toroid.load(LAYER).partition(2, shardings={"w": "{devices=[2,1]<=[2]}"})
    with pytest.raises(toroid.ToroidError, match="is for 8 devices, .* for 2"):
        toroid.diff(partitioned, other)
    with pytest.raises(toroid.ToroidError):
        toroid.diff(partitioned, "/nonexistent.hlo")
