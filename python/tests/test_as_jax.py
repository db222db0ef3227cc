"""Partitioned programs on the devices of jax: the same values as on simulated devices."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import toroid

jax.config.update("jax_num_cpu_devices", 8)
CORPUS = Path(__file__).absolute().parents[2] / "tests" / "corpus" / "jax"

UNEVEN = "HloModule m\nENTRY e { x = f32[17,4] parameter(0) y = f32[17,4] tanh(x) ROOT z = f32[4,17] transpose(y), dimensions={1,0} }\n"


def argument(declared, rng):
    if declared.dtype.kind in "iub":
        return rng.integers(0, 2, declared.shape).astype(declared.dtype)
    return rng.normal(size=declared.shape).astype(declared.dtype)


# Merged reduce-scatters, all-reduces and all-gathers, permutes, loops, uneven shards, numbers, meshes of six devices.
@pytest.mark.parametrize(
    "name",
    [
        "conv_spatial_uneven.shardy.hlo.pb",
        "decode_kv_cache.gspmd.snapshot.pb",
        "fft.shardy.hlo.pb",
        "lm_fsdp_tensor_parallel.gspmd.snapshot.pb",
        "lm_fsdp_tensor_parallel.shardy.hlo.pb",
        "lm_scan_layers.shardy.hlo.pb",
        "manual_ring_matmul.gspmd.snapshot.pb",
        "moe_layer_gradient.shardy.hlo.pb",
        "shape_ops.gspmd.snapshot.pb",
        "sort_topk_cumulative.shardy.hlo.pb",
    ],
)
def test_the_corpus_computes_the_same_on_devices_of_jax(name):
    partitioned = toroid.load(CORPUS / name).partition()
    rng = np.random.default_rng(0)
    args = [argument(declared, rng) for declared in partitioned.arrays()[0]]
    simulated, results = partitioned.run(args), partitioned.as_jax()(*args)
    assert len(results) == len(simulated) > 0
    for result, value in zip(results, simulated):
        assert isinstance(result, jax.Array) and result.dtype == value.dtype and result.shape == value.shape
        np.testing.assert_allclose(
            np.asarray(result, np.complex128), np.asarray(value, np.complex128), rtol=1e-3, atol=1e-3 * np.abs(value).max(initial=1e-3)
        )


def test_uneven_shards_are_padded_and_cut_again():
    partitioned = toroid.load(UNEVEN).partition(shardings={"x": ("rows",)}, mesh={"rows": 8})
    x = np.arange(68, dtype=np.float32).reshape(17, 4) / 100
    for (result,) in (partitioned.as_jax()(jnp.asarray(x)), partitioned.run([x])):
        assert result.shape == (4, 17)
        np.testing.assert_allclose(result, np.tanh(x).T, rtol=1e-6)


def test_arrays_stay_on_their_devices_and_are_not_used_up():
    mesh = jax.make_mesh((8,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))
    rows = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("d"))

    def step(x):
        return x + jnp.sum(x)

    x = jax.device_put(jnp.arange(16.0), rows)
    function = toroid.load(jax.jit(step, donate_argnums=0, out_shardings=rows).lower(x)).partition().as_jax()
    for _ in range(2):
        (result,) = function(x)
        np.testing.assert_array_equal(result, np.arange(16) + 120)
        assert result.sharding.is_equivalent_to(rows, 1)
    # The devices may be given, in another order.
    (again,) = toroid.load(jax.jit(step).lower(x)).partition().as_jax(jax.devices()[::-1])(x)
    np.testing.assert_array_equal(again, result)


@pytest.mark.parametrize("shardy", [True, False])
def test_either_partitioner_of_jax_takes_the_program(shardy):
    partitioned = toroid.load(CORPUS / "moe_layer_forward.shardy.hlo.pb").partition()
    args = [argument(declared, np.random.default_rng(1)) for declared in partitioned.arrays()[0]]
    jax.config.update("jax_use_shardy_partitioner", shardy)
    try:
        results = partitioned.as_jax()(*args)
    finally:
        jax.config.update("jax_use_shardy_partitioner", True)
    np.testing.assert_allclose(results[0], partitioned.run(args)[0], rtol=1e-3, atol=1e-3)


def test_what_cannot_run_is_one_line():
    partitioned = toroid.load(UNEVEN).partition(shardings={"x": ("rows",)}, mesh={"rows": 8})
    with pytest.raises(toroid.ToroidError, match="for 8 devices, jax has 3; .*jax_num_cpu_devices") as error:
        partitioned.as_jax(jax.devices()[:3])
    for devices, message in ((3, "expected a list of devices of jax, got int"), ([3] * 8, "devices: 3 is no device of jax")):
        with pytest.raises(toroid.ToroidError, match=message):
            partitioned.as_jax(devices)
    assert "\n" not in str(error.value)
    function = partitioned.as_jax()
    for args, message in [
        ((), "1 parameters, 0 arrays were given"),
        ((np.zeros((17, 4)),), r"argument 0 \(x\) is float64\[17, 4\], expected float32\[17, 4\]"),
        ((np.zeros((24, 4), np.float32),), r"is float32\[24, 4\], expected"),
    ]:
        with pytest.raises(toroid.ToroidError, match=message):
            function(*args)
    with pytest.raises(toroid.ToroidError, match="is a tracer"):
        jax.jit(function)(jnp.zeros((17, 4)))
    doubles = toroid.load("HloModule m\nENTRY e { x = f64[8] parameter(0) ROOT y = f64[8] tanh(x) }\n")
    with pytest.raises(toroid.ToroidError, match="jax_enable_x64"):
        doubles.partition(shardings={"x": ("rows",)}, mesh={"rows": 8}).as_jax()
