"""Functions of JAX: lowered without devices, explained in the user's names, watched in tests."""

import dataclasses
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AbstractMesh, NamedSharding
from jax.sharding import PartitionSpec as P

import toroid
import toroid.jax

MESH = AbstractMesh((2, 4), ("data", "model"))


def loss(params, x):
    return jnp.mean((jnp.tanh(x @ params["w_up"]) @ params["w_down"]) ** 2)


def train_step(params, x):
    grads = jax.grad(loss)(params, x)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


def shapes(mesh=None):
    def array(shape, *axes):
        sharding = NamedSharding(mesh, P(*axes)) if mesh is not None else None
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=sharding)

    return {"w_up": array((128, 512), None, "model"), "w_down": array((512, 128), "model", None)}, array((64, 128), "data", None)


SPECS = ({"w_up": P(None, "model"), "w_down": P("model", None)}, P("data", None))


@pytest.mark.parametrize("shardy", [True, False])
def test_everything_that_holds_a_program_is_loaded(shardy):
    jax.config.update("jax_use_shardy_partitioner", shardy)
    try:
        traced = jax.jit(train_step).trace(*shapes(MESH))
        lowered = traced.lower(lowering_platforms=("tpu",))
        exported = jax.export.export(jax.jit(train_step), platforms=("tpu",))(*shapes(MESH))
        sources = [
            traced,
            lowered,
            lowered.compiler_ir("hlo"),
            lowered.compiler_ir("stablehlo"),
            lowered.as_text(debug_info=True),
            lowered.as_text("hlo", debug_info=True),
            exported,
            exported.mlir_module_serialized,
        ]
        sent = [toroid.load(x).partition().explain().sent_bytes for x in sources]
        assert len(set(sent)) == 1 and sent[0] > 0
    finally:
        jax.config.update("jax_use_shardy_partitioner", True)


def test_a_serialized_export_is_loaded(tmp_path):
    # By jax.export.export(jax.jit(step), platforms=["tpu"])(...).serialize(), of two products with weights cut as in SPECS.
    path = Path(__file__).parent / "exported_step.bin"
    (tmp_path / "long").write_bytes(path.read_bytes().replace(b"\x3c\0\0\0", b"\x3c\0\0\0" + bytes(8192), 1))
    for source in (path, path.read_bytes(), memoryview(path.read_bytes()), tmp_path / "long"):
        module = toroid.load(source)
        assert [array.name for array in module.arrays()[0]] == ["params['w_down']", "params['w_up']", "x"]
        assert [row["opcode"] for row in module.partition().explain().rows] == ["all-reduce"]


def test_an_export_of_several_programs_says_what_to_export():
    twice = jax.export.export(jax.jit(jnp.tanh), platforms=("tpu", "cpu"))(jnp.ones(4))
    with pytest.raises(toroid.ToroidError, match=r"exported for tpu and cpu; export it for one of them: platforms=\['tpu'\]$"):
        toroid.load(twice)
    with pytest.raises(toroid.ToroidError, match="^bytes: exported for several platforms"):
        toroid.load(twice.mlir_module_serialized)
    (size,) = jax.export.symbolic_shape("b")
    of_any_size = jax.export.export(jax.jit(lambda x: x @ x.T + jnp.ones(size)))(jax.ShapeDtypeStruct((size, 4), jnp.float32))
    for source in (of_any_size, of_any_size.mlir_module_serialized):
        with pytest.raises(toroid.ToroidError, match="exported with symbolic shapes.*; export it for given shapes$"):
            toroid.load(source)


class Wrapped:
    """As equinox holds what jax lowers and compiles."""

    def __init__(self, **inner):
        self.__dict__.update(inner)


def test_what_equinox_wraps_is_loaded():
    lowered = jax.jit(train_step).trace(*shapes(MESH)).lower(lowering_platforms=("tpu",))
    assert toroid.load(Wrapped(lowered=lowered)).name == toroid.load(lowered).name
    compiled = jax.jit(jnp.tanh).lower(jnp.ones(4)).compile()
    assert toroid.load(Wrapped(compiled=compiled)).name == "jit_tanh"


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Layer:
    """A pytree that is neither tuple, list nor dict, with a function beside its array, as equinox has them."""

    weight: Any
    activation: Any


def apply_layer(layer, x, scale=1.0):
    return layer.activation(x @ layer.weight) * scale


def test_pytrees_are_flattened_as_jax_does():
    weight, x = np.ones((8, 4), np.float32), np.ones((16, 8), np.float32)
    module = toroid.load(jax.jit(lambda layer, x: jnp.tanh(x @ layer.weight)).lower(Layer(weight, None), x))
    for activation in (None, jnp.tanh):
        (result,) = module.run((Layer(weight, activation), x))
        np.testing.assert_allclose(result, np.tanh(x @ weight), rtol=1e-4)
        assert module.check((Layer(weight, activation), x), expected={"y": result})
    (result,) = module.partition(shardings={"x": ("rows",)}, mesh={"rows": 2}).run((Layer(weight, None), x))
    with pytest.raises(toroid.ToroidError, match="2 parameters, 3 arrays were given"):
        module.run((Layer(weight, None), x, 1.0))


def test_a_step_may_take_functions_and_keywords():
    struct = jax.ShapeDtypeStruct
    layer, x = Layer(struct((8, 64), jnp.float32), jnp.tanh), struct((16, 8), jnp.float32)
    specs = (Layer(P(None, "model"), None), P("data", None))
    explanation = toroid.jax.explain(apply_layer, layer, x, mesh=MESH, in_shardings=specs, out_shardings=P())
    assert {row["opcode"] for row in explanation.rows} == {"all-gather"}
    module = toroid.jax.lower(jax.jit(loss), {"w_up": layer.weight, "w_down": struct((64, 8), jnp.float32)}, x=x, mesh=MESH)
    assert [array.name for array in module.arrays()[0]] == ["params['w_down']", "params['w_up']", "x"]
    assert toroid.jax.lower(jax.jit(train_step), *shapes(), mesh=MESH, donate_argnums=0).name == "jit_train_step"


@pytest.mark.filterwarnings("ignore::toroid.ToroidWarning")
def test_a_program_that_jax_partitioned_is_explained():
    compiled = jax.jit(lambda x: x * 2).lower(jnp.ones(4)).compile()
    assert "no collectives" in repr(toroid.load(compiled).explain())
    corpus = Path(__file__).absolute().parents[2] / "tests" / "corpus" / "xla_partitioned"
    module = toroid.load(sorted(corpus.glob("*.pb*"))[0])
    explanation = module.explain()
    assert explanation.rows and explanation.sent_bytes > 0
    with pytest.raises(toroid.ToroidError, match=r"explain\(\) reports on this one"):
        module.partition()


def test_advice_is_in_words_of_jax():
    specs = ({"w_up": P("model", None), "w_down": P("model", None)}, P("data", None))
    module = toroid.jax.lower(loss, *shapes(), mesh=MESH, in_shardings=specs)
    advice = module.advise()
    changes = re.findall(r"shardings=(\{.*?\})(?= \(|$)", advice, re.MULTILINE)
    assert "params['w_up'] P(None, 'model') instead of P('model', None)" in advice and changes
    sent = module.partition().explain().sent_bytes
    for change in changes:
        assert module.partition(shardings=eval(change)).explain().sent_bytes < sent


def test_specs_may_be_shorter_than_their_arrays():
    module = toroid.jax.lower(train_step, *shapes(), mesh=MESH, in_shardings=SPECS)
    full = module.partition(shardings={"result['w_up']": P("data", None), "params['w_up']": P("data", None)}).explain()
    for name in ("result['w_up']", "output{1}"):
        short = module.partition(shardings={name: P("data"), "params['w_up']": P("data")}).explain()
        assert repr(short) == repr(full)
    with pytest.raises(toroid.ToroidError, match=r"^result\['w_up'\]: .* has 3 dimensions, the array has 2$"):
        module.partition(shardings={"result['w_up']": P("data", None, None)})
    with pytest.raises(toroid.ToroidError, match=r"^params\['w_up'\]: .* uses axis 'model' twice$"):
        module.what_if("params['w_up']", P("model", "model"))
    other = NamedSharding(AbstractMesh((7,), ("rows",)), P("rows"))
    with pytest.raises(toroid.ToroidError, match=r"params\['w_up'\]: shardings name 7 devices here and 8 elsewhere"):
        module.partition(shardings={"params['w_up']": other})


def test_advice_names_results_as_jax_does():
    def step(w, x):
        y = jnp.tanh(x @ w["v"])
        return {"mu": y, "same": y}

    place = lambda *axes: NamedSharding(MESH, P(*axes))
    out = {"mu": place(None, "data"), "same": place("data")}
    struct = jax.ShapeDtypeStruct
    args = ({"v": struct((64, 512), jnp.float32, sharding=place())}, struct((256, 64), jnp.float32, sharding=place("data")))
    module = toroid.load(jax.jit(step, out_shardings=out).trace(*args).lower(lowering_platforms=("tpu",)))
    advice = module.advise()
    assert "result['mu']" in advice and "output{" not in advice
    sent = module.partition().explain().sent_bytes
    for change in re.findall(r"shardings=(\{.*?\})(?= \(|$)", advice, re.MULTILINE):
        assert module.partition(shardings=eval(change)).explain().sent_bytes < sent
    assert "what if output{0}" not in module.what_if("result['mu']", P("data"))


def test_results_are_named_by_their_place_in_the_tree():
    def step(params, x):
        grads = jax.grad(loss)(params, x)
        return loss(params, x), {"new": jax.tree.map(lambda p, g: p - g, params, grads)}

    specs = (P(), {"new": {"w_up": P("data"), "w_down": P("data")}})
    traced = jax.jit(step, out_shardings=jax.tree.map(lambda s: NamedSharding(MESH, s), specs)).trace(*shapes(MESH))
    lowered = traced.lower(lowering_platforms=("tpu",))
    for source in (traced, lowered, lowered.as_text()):
        module = toroid.load(source)
        why = module.why("result[1]['new']['w_up']")
        assert "result[1]['new']['w_up']" in why and "P('data', None)" in why
        assert "result[1]['new']" in repr(module.partition().explain())
    assert "output{" not in repr(module.partition().explain())


def test_rows_have_the_users_names_lines_and_axes():
    explanation = toroid.jax.explain(train_step, *shapes(), mesh=MESH, in_shardings=SPECS)
    text = repr(explanation)
    assert "dot_general.9 of x: P('data', None) -> P(None, None)" in text
    assert "P(&#x27;data&#x27;, None) → P(None, None)" in explanation._repr_html_()
    assert '[{"data"}, {}] -> [{}, {}]' in [row["step"] for row in explanation.rows]
    assert any("test_jax.py:" in row["source"] for row in explanation.rows)


def test_arrays_of_devices_that_are_not_the_meshs_are_taken_by_their_shapes():
    params, x = jax.tree.map(lambda s: jnp.zeros(s.shape, s.dtype), shapes())
    key = jax.random.PRNGKey(0)

    def step(params, x, key):
        return loss(params, x + jax.random.normal(key, x.shape))

    module = toroid.jax.lower(step, params, x, key, mesh="data=2,model=4", in_shardings=(*SPECS, P()))
    assert module.partition().num_partitions == 8
    assert "toroid/jax.py" not in module.text() and "test_jax.py" in module.text()


def test_two_thousand_devices_need_not_exist():
    mesh = {"data": 64, "model": 32}
    module = toroid.jax.lower(train_step, *shapes(), mesh=mesh, in_shardings=SPECS)
    assert module.partition().num_partitions == 2048


def test_the_partitioned_program_computes_the_same():
    module = toroid.jax.lower(train_step, *shapes(), mesh=MESH, in_shardings=SPECS, platform="cpu")
    params, x = jax.tree.map(lambda s: np.random.default_rng(0).normal(size=s.shape).astype(np.float32), shapes())
    expected = jax.tree.leaves(jax.jit(train_step)(params, x))
    results = module.partition().run([params, x])
    assert len(results) == 2
    for result, value in zip(results, expected):
        np.testing.assert_allclose(result, value, rtol=1e-4, atol=1e-5)
    assert module.check([params, x])


def test_a_program_of_shard_map_is_compared_with_what_jax_computes():
    sums = jax.shard_map(lambda x: jax.lax.psum(x, "data"), mesh=MESH, in_specs=P("data"), out_specs=P())
    module = toroid.jax.lower(sums, jax.ShapeDtypeStruct((8, 4), jnp.float32), mesh=MESH, platform="cpu")
    x = np.arange(32, dtype=np.float32).reshape(8, 4)
    with pytest.raises(toroid.ToroidError, match=r"manual regions \(shard_map\)"):
        module.check([x])
    expected = x[:4] + x[4:]
    assert module.check([x], expected=expected)
    assert not module.check([x], expected=[expected + 1])
    with pytest.raises(toroid.ToroidError, match=r"expected 0 is float32\[4\], expected float32\[4, 4\]"):
        module.check([x], expected=expected[0])
    with pytest.raises(toroid.ToroidError, match="expected: 2 arrays, the program has 1"):
        module.check([x], expected=[x, x])


def test_the_partitioned_program_is_stablehlo_again():
    partitioned = toroid.jax.lower(train_step, *shapes(), mesh=MESH, in_shardings=SPECS).partition()
    text = partitioned.stablehlo()
    assert "stablehlo." in text and "@main" in text


def test_a_watched_step_that_sends_too_much_fails():
    with toroid.jax.watch(max_bytes=10**9, mesh=MESH, in_shardings=SPECS) as watched:
        assert watched(train_step, *shapes()).num_partitions == 8
    with pytest.raises(toroid.jax.CommunicationGrew, match="more than 1,000") as error:
        toroid.jax.watch(max_bytes=1000, mesh=MESH, in_shardings=SPECS).check(train_step, *shapes())
    assert "sent per device in all" in str(error.value)
    with pytest.raises(AssertionError, match="collectives, more than 0"):
        toroid.jax.watch(max_collectives=0, mesh=MESH, in_shardings=SPECS).check(train_step, *shapes())


def test_the_first_lines_of_the_readme_explain_a_decoder_of_seven_billion_parameters():
    readme = (Path(__file__).absolute().parents[1] / "README.md").read_text()
    code = readme.split("```python\n")[1].split("```")[0]
    assert len(code.splitlines()) == 6
    begin = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "sent per device in all: " in done.stdout and "w_down']" in done.stdout
    assert re.search(r"/toroid/examples/decoder.py:\d+\n$", done.stdout)
    assert time.monotonic() - begin < 60  # Ten seconds are meant; a test does not depend on the machine.


@pytest.mark.filterwarnings("ignore:.*nothing is sharded")
def test_a_watched_function_runs_as_before():
    calls = []

    @toroid.jax.watch(max_bytes=0)
    def double(x):
        calls.append(x.shape)
        return 2 * x

    np.testing.assert_array_equal(double(jnp.arange(3)), [0, 2, 4])
    np.testing.assert_array_equal(double(x=jnp.arange(2)), [0, 2])

    step = toroid.jax.watch(max_collectives=0, mesh=MESH, in_shardings=SPECS)(train_step)
    for _ in range(2):  # Also when it is called again.
        with pytest.raises(toroid.jax.CommunicationGrew):
            step(*shapes())


def test_what_is_no_program_says_what_to_do():
    with pytest.raises(toroid.ToroidError, match=r"f.trace\(\*args\)"):
        toroid.load(jax.jit(train_step))
    with pytest.raises(toroid.ToroidError, match="not an array"):
        toroid.load(jnp.zeros(3))


def test_tracers_are_refused():
    def inside(x):
        toroid.jax.lower(loss, {}, x)
        return x

    with pytest.raises(toroid.ToroidError, match="is a tracer"):
        jax.jit(inside)(jnp.zeros(3))

    def running(x):
        toroid.load("HloModule m\nENTRY e { x = f32[3] parameter(0) ROOT y = f32[3] negate(x) }\n").run([x])
        return x

    with pytest.raises(toroid.ToroidError, match="tracer"):
        jax.jit(running)(jnp.zeros(3))


def test_a_mesh_replaces_that_of_the_shardings():
    mesh = jax.sharding.AbstractMesh((4, 2), ("data", "model"))
    shardings = tuple(NamedSharding(mesh, spec) for spec in (P("data"), P(None, "model")))
    shapes = (jax.ShapeDtypeStruct((64, 32), jnp.float32), jax.ShapeDtypeStruct((32, 128), jnp.float32))
    lowered = {str(asked): toroid.jax.lower(lambda x, w: jnp.tanh(x @ w), *shapes, mesh=asked, in_shardings=shardings) for asked in (None, {"data": 16, "model": 8})}
    assert [module.partition().num_partitions for module in lowered.values()] == [8, 128]
    with pytest.raises(toroid.ToroidError, match="a sharding is over axis 'data'"):
        toroid.jax.lower(lambda x, w: x @ w, *shapes, mesh={"rows": 4}, in_shardings=shardings)


def test_platforms_are_those_of_jax():
    traced = jax.jit(jnp.tanh).trace(jnp.ones(4))
    for platform in ("abacus", 3):
        with pytest.raises(toroid.ToroidError, match=f"^platform: jax has no platform {platform!r}; give one of cpu, tpu"):
            toroid.load(traced, platform=platform)
        with pytest.raises(toroid.ToroidError, match="^platform: "):
            toroid.jax.lower(jnp.tanh, jnp.ones(4), platform=platform)
    assert toroid.load(traced, platform="rocm").name == "jit_tanh"


def test_limits_are_numbers():
    with pytest.raises(toroid.ToroidError, match="^max_bytes: "):
        toroid.jax.watch(max_bytes="2MB")


@pytest.mark.parametrize("mesh", [{"data": -1}, {"data": "x"}, {"data": 4.0}, {"data": True}, (4, 2), 8])
def test_odd_meshes_are_one_line(mesh):
    with pytest.raises(toroid.ToroidError, match="^mesh: "):
        toroid.jax.lower(jnp.tanh, jnp.ones(4), mesh=mesh)
