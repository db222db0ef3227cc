"""Functions of TensorFlow: names of arguments and variables, lines of the graph. The real one runs where it is installed."""

import importlib.util
from types import SimpleNamespace

import numpy as np
import pytest

import toroid

PROGRAM = """HloModule a_inference_step

ENTRY main {
  arg0 = f32[8,4] parameter(0), metadata={op_name="XLA_Args"}
  arg1 = f32[4,16] parameter(1), metadata={op_name="XLA_Args"}
  arg2 = f32[4,16] parameter(2), metadata={op_name="XLA_Args"}
  dot = f32[8,16] dot(arg0, arg1), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_type="MatMul" op_name="while/matmul" source_file="/usr/lib/python3/dist-packages/tensorflow/python/framework/ops.py" source_line=1221}
  again = f32[8,16] dot(arg0, arg2), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_type="MatMul" op_name="second/matmul/of/some/depth"}
  ROOT sum = f32[8,16] add(dot, again), metadata={op_name="not of the graph"}
}
"""


class Graph:
    """As a FuncGraph: ops with tracebacks, and graphs of loops behind their names."""

    def __init__(self, operations, functions, captures=()):
        self._operations, self._functions, self.captures = operations, functions, captures

    def get_operations(self):
        return self._operations

    def _get_function(self, name):
        return self._functions.get(name)


def operation(name, calls=(), *frames):
    attributes = {"body": SimpleNamespace(func=SimpleNamespace(name=calls[0] if calls else ""), list=SimpleNamespace(func=[]))}
    traceback = [SimpleNamespace(filename=file, lineno=line) for file, line in frames]
    return SimpleNamespace(name=name, node_def=SimpleNamespace(attr=attributes), traceback=traceback)


class Function:
    def __init__(self, error=None):
        self._error = error

    def experimental_get_compiler_ir(self, *arguments):
        if self._error:
            raise self._error
        assert len(arguments) == 1
        return lambda stage: {"hlo_serialized": toroid.load(PROGRAM).serialize()}[stage]

    def get_concrete_function(self, *_):
        user, library = ("/home/me/model.py", 12), ("/venv/site-packages/tensorflow/python/ops/math_ops.py", 3)
        body = Graph([operation("while/matmul", (), ("/home/me/model.py", 7), library)], {})
        handles = [object(), object()]
        graph = Graph(
            [operation("while", ("body",), user, library), operation("second/matmul", (), user, library), operation("const")],
            {"body": SimpleNamespace(graph=body)},
            [(handles[0], SimpleNamespace(name="captured:0")), (handles[1], SimpleNamespace(name="captured_1:0"))],
        )
        return SimpleNamespace(
            graph=graph,
            inputs=[SimpleNamespace(name=name) for name in ("x:0", "captured:0", "captured_1:0")],
            variables=[SimpleNamespace(handle=handle, name="Variable:0") for handle in handles],
        )


def test_parameters_have_their_names_and_ops_their_lines():
    module = toroid.load(Function(), args=["a spec"])
    assert [array.name for array in module.arrays()[0]] == ["x", "Variable", "Variable_1"]
    text = module.text()
    assert 'op_name="while/matmul" source_file="/home/me/model.py" source_line=7' in text
    assert 'op_name="second/matmul/of/some/depth" source_file="/home/me/model.py" source_line=12' in text
    assert 'op_type="MatMul"' in text and 'op_name="not of the graph"}' in text and "ops.py" not in text
    partitioned = module.partition(shardings={"x": (None, "d"), "Variable": ("d",), "Variable_1": ("d",)}, mesh={"d": 2})
    assert any(row["source"] == "/home/me/model.py:7" for row in partitioned.explain().rows)


def test_what_tensorflow_refuses_is_one_line():
    with pytest.raises(toroid.ToroidError, match=r"needs the shapes of its arguments: toroid.load\(f, args="):
        toroid.load(Function())
    with pytest.raises(toroid.ToroidError, match="^TensorFlow: only static shapes$"):
        toroid.load(Function(ValueError("only static shapes\nmore")), args=["a spec"])
    concrete = SimpleNamespace(structured_input_signature=())
    with pytest.raises(toroid.ToroidError, match="load the tf.function that it was made of"):
        toroid.load(concrete)


@pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason="TensorFlow is not installed")
def test_a_step_of_tensorflow_itself():
    import tensorflow as tf

    up, down = (tf.Variable(np.random.default_rng(0).normal(size=s).astype(np.float32)) for s in ((8, 32), (32, 8)))

    @tf.function(jit_compile=True)
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.tanh(x @ up) @ down))
        return loss, *tape.gradient(loss, [up, down])

    module = toroid.load(step, args=[tf.TensorSpec((16, 8), tf.float32)])
    x = np.ones((16, 8), np.float32)
    loss = module.run([x, up.numpy(), down.numpy()])[0]
    np.testing.assert_allclose(loss, step(x)[0], rtol=1e-4)
    shardings = {"x": ("d",), "Variable": (None, "m"), "Variable_1": ("m",)}
    rows = module.partition(shardings=shardings, mesh={"d": 2, "m": 2}).explain().rows
    assert rows and all("test_tensorflow.py:" in row["source"] for row in rows if row["source"])
    assert module.check([x, up.numpy(), down.numpy()], shardings=shardings, mesh={"d": 2, "m": 2})
