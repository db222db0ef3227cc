"""The JSON of the commands is what docs/schemas say, key by key."""

import json
import os
import subprocess
from pathlib import Path

import jsonschema
import pytest

ROOT = Path(__file__).absolute().parents[2]
SCHEMAS = ROOT / "docs" / "schemas"
CORPUS = ROOT / "tests" / "corpus" / "jax"
MOE = str(CORPUS / "moe_layer_forward.gspmd.snapshot.pb")

LAYER = """HloModule layer

ENTRY main {
  x = f32[17,128] parameter(0), sharding={devices=[8,1]<=[8]}
  w = bf16[128,128]{1,0:S(5)} parameter(1)
  v = f32[128,128] convert(w)
  ROOT y = f32[17,128] dot(x, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""

# A loop of unknown length whose condition, as its body, sums over devices.
LOOP = """HloModule loop, num_partitions=4

add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
body { p = f32[4] parameter(0) ROOT r = f32[4] all-reduce(p), channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=add }
condition { q = f32[4] parameter(0) z = f32[] constant(0) t = f32[] reduce(q, z), dimensions={0}, to_apply=add
  l = f32[] constant(9) ROOT c = pred[] compare(t, l), direction=LT }
ENTRY main { x = f32[4] parameter(0) ROOT w = f32[4] while(x), condition=condition, body=body }
"""


def schema(name):
    return json.loads((SCHEMAS / f"{name}.schema.json").read_text())


def closed(part):
    """A schema that also refuses keys that it does not name: what users read tells of every key."""
    if isinstance(part, list):
        return [closed(item) for item in part]
    if not isinstance(part, dict):
        return part
    result = {key: closed(value) for key, value in part.items()}
    if isinstance(part.get("properties"), dict) and part.get("type") == "object":
        result.setdefault("additionalProperties", False)
    return result


def run(command, *arguments, exits=(0,)):
    done = subprocess.run(
        [os.path.join(os.environ["TOROID_BIN"], command), *map(str, arguments)], capture_output=True, text=True
    )
    assert done.returncode in exits, done.stderr
    return json.loads(done.stdout)


def validate(value, name):
    jsonschema.Draft202012Validator(closed(schema(name))).validate(value)


@pytest.fixture(name="layer")
def layer_file(tmp_path):
    path = tmp_path / "layer.hlo"
    path.write_text(LAYER)
    return path


@pytest.mark.parametrize("path", sorted(SCHEMAS.glob("*.json")), ids=lambda path: path.name)
def test_a_schema_is_one(path):
    jsonschema.Draft202012Validator.check_schema(json.loads(path.read_text()))


@pytest.mark.parametrize("mode", ["json", "full_json"])
def test_explanations(mode, layer, tmp_path):
    validate(run("hlo-partition", MOE, f"--explain={mode}"), "explain")
    value = run("hlo-partition", MOE, f"--explain={mode}", "--machine=tpu-v3-8")
    validate(value, "explain")
    assert value["rows"][0]["seconds"] > 0
    value = run("hlo-partition", layer, f"--explain={mode}")
    validate(value, "explain")
    assert value["notes"]
    (tmp_path / "loop.hlo").write_text(LOOP)
    value = run("hlo-partition", tmp_path / "loop.hlo", f"--explain={mode}")
    validate(value, "explain")
    assert value["rows"][0]["trips"] is None


# Two layers of the batch, with a constraint on columns in between.
TURNED = """HloModule turned

ENTRY main {
  x = f32[512,256] parameter(0), sharding={devices=[8,1]<=[8]}
  h = f32[512,256] negate(x)
  s = f32[512,256] custom-call(h), custom_call_target="Sharding", sharding={devices=[1,8]<=[8]}
  t = f32[512,256] tanh(s)
  ROOT y = f32[512,256] custom-call(t), custom_call_target="Sharding", sharding={devices=[8,1]<=[8]}
}
"""


def test_changes_that_were_tried_and_origins(tmp_path):
    (tmp_path / "turned.hlo").write_text(TURNED)
    value = run("hlo-partition", tmp_path / "turned.hlo", "--explain=json")
    validate(value, "explain")
    assert value["diagnosis"][0]["sent_bytes_then"] == 0
    value = run("hlo-partition", tmp_path / "turned.hlo", "--why_json=-")
    validate(value, "why")
    assert value["values"][0]["cuts"][0]["kind"] == "asked"
    validate(run("hlo-partition", MOE, "--why_json=-"), "why")


def test_partition_statistics(layer):
    validate(run("hlo-partition", MOE, "--stats=-"), "partition_statistics")
    validate(run("hlo-partition", MOE, "--stats=-", "--machine=tpu-v3-8"), "partition_statistics")
    value = run("hlo-partition", layer, "--stats=-")
    validate(value, "partition_statistics")
    assert value["host_memory"]["peak"] > 0


@pytest.mark.parametrize("flags", [[], ["--promote"], ["--tolerance=0"], ["--max_bytes=500kB"]])
def test_checks(flags):
    validate(run("hlo-run", MOE, "--check", *flags, exits=(0, 1)), "check")


def test_a_check_of_the_partitioner():
    validate(run("hlo-partition", MOE, "--check"), "check")


def test_module_statistics(layer):
    validate(run("hlo-convert", MOE, "--stats=json"), "module_statistics")
    validate(run("hlo-convert", layer, "--stats=json"), "module_statistics")


@pytest.mark.parametrize("flags", [[], ["--overlap", "--rates=measured"]])
def test_predictions(flags, layer):
    validate(run("hlo-simulate", MOE, "--json=-", *flags), "prediction")
    validate(run("hlo-simulate", layer, "--json=-", *flags), "prediction")


@pytest.mark.parametrize("flags", [[], ["--machine=tpu-v3-8"]])
def test_differences(flags, tmp_path):
    subprocess.run([os.path.join(os.environ["TOROID_BIN"], "hlo-partition"), MOE, "-o", tmp_path / "ours.hlo"], check=True)
    value = run("hlo-diff", tmp_path / "ours.hlo", tmp_path / "ours.hlo", "--json=-", *flags)
    validate(value, "diff")
    assert value["same"] and not value["sent"]["rows"]
    theirs = ROOT / "tests/corpus/xla_partitioned/lm_fsdp_tensor_parallel.shardy.spmd.hlo.pb.gz"
    ours = tmp_path / "lm.hlo.pb"
    program = CORPUS / "lm_fsdp_tensor_parallel.shardy.hlo.pb"
    subprocess.run([os.path.join(os.environ["TOROID_BIN"], "hlo-partition"), program, "-o", ours], check=True)
    value = run("hlo-diff", ours, theirs, "--json=-", *flags, exits=(1,))
    validate(value, "diff")
    for costs in (value["sent"], value["flops"], value["memory"]):
        assert sum(row["difference"] for row in costs["rows"]) == costs["b"] - costs["a"]
    assert value["sent"]["rows"] and value["memory"]["rows"] and value["instructions"]["opcodes"]


def test_another_value_is_refused():
    value = run("hlo-convert", MOE, "--stats=json")
    for wrong in ({**value, "flops": "many"}, {**value, "schema_version": 2}, {k: v for k, v in value.items() if k != "name"}):
        with pytest.raises(jsonschema.ValidationError):
            validate(wrong, "module_statistics")
