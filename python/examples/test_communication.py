"""Holds a training step to its communication: a test to copy into the repository of a model.

It runs without devices, on any machine with jax and toroid: pytest test_communication.py
"""

import pytest
import toroid.jax
from toroid.examples.decoder import shapes, specs, train_step

# What each device sends in a step of the small model. Whoever raises a number says why in the change that does.
BUDGET = [
    ({"data": 8}, 640_000),
    ({"data": 4, "model": 2}, 620_000),
    ({"data": 2, "model": 4}, 1_130_000),
]


@pytest.fixture(name="step")
def step_of_the_model():
    """The step, its arguments and their shardings."""
    return train_step, shapes("tiny", batch=16, length=64), specs("tiny")


def on(mesh, shardings):
    """The shardings without the axes that a mesh does not have."""
    import jax  # pylint: disable=import-outside-toplevel

    spec = jax.sharding.PartitionSpec
    return jax.tree.map(
        lambda s: spec(*(axis if axis in mesh else None for axis in s)), shardings, is_leaf=lambda x: isinstance(x, spec)
    )


@pytest.mark.parametrize("mesh, max_bytes", BUDGET)
def test_a_step_sends_no_more_than_it_did(step, mesh, max_bytes):
    f, arguments, shardings = step
    with toroid.jax.watch(max_bytes=max_bytes, mesh=mesh, in_shardings=on(mesh, shardings)) as watched:
        watched(f, *arguments)


def test_only_weights_are_gathered(step):
    f, arguments, shardings = step
    mesh = {"data": 8}
    explanation = toroid.jax.explain(f, *arguments, mesh=mesh, in_shardings=on(mesh, shardings))
    large = [row for row in explanation.rows if row["opcode"] == "all-gather" and row["sent_bytes"] > 10_000]
    assert large and all("params[" in row["name"] for row in large), explanation
