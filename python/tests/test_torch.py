"""Programs of PyTorch: exported, and not yet computed. The real ones run where torch_xla is installed."""

import importlib.util
import os
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import toroid

# As torch_xla prints it with XLA_IR_DEBUG=1.
FORWARD = """#loc1 = /venv/site-packages/torch/_ops.py:841:0
#loc2 = "__call__"(#loc1)
#loc3 = #loc2
 at #loc1
module @IrToHlo.22 attributes {mhlo.cross_program_prefetches = [], mhlo.is_dynamic = false} {
  func.func @main(%arg0: tensor<16xf32> "xla__device_data"(#loc3), %arg1: tensor<8x16xf32> "xla__device_data"(#loc3)) -> tensor<8x16xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<16xf32>) -> tensor<8x16xf32> "aten__add"(#loc3)
    %1 = stablehlo.add %arg1, %0 : tensor<8x16xf32> "aten__add"(#loc3)
    return %1 : tensor<8x16xf32> [unknown]
  } [unknown]
} [unknown]
#loc = [unknown]
"""

STEP = """HloModule IrToHlo

sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }

ENTRY main {
  p0 = f32[16] parameter(0), metadata={op_name="xla__device_data"}
  p1 = f32[8,16] parameter(1), metadata={op_name="xla__device_data"}
  zero = f32[] constant(0)
  s = f32[16] reduce(p1, zero), dimensions={0}, to_apply=sum
  ROOT r = f32[16] multiply(s, p0)
}
"""


def graph_module():
    locations = [SimpleNamespace(name="bias", position=-1), SimpleNamespace(name="", position=0)]
    function = SimpleNamespace(meta=SimpleNamespace(input_locations=locations))
    return SimpleNamespace(get_stablehlo_text=lambda method: {"forward": FORWARD}[method], _bundle=SimpleNamespace(stablehlo_funcs=[function]))


def names(module):
    return [array.name for array in module.arrays()[0]]


@pytest.mark.parametrize("jaxlib_is_there", [True, False])
def test_an_exported_program_has_the_names_of_its_state_and_arguments(jaxlib_is_there, monkeypatch):
    if not jaxlib_is_there:
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    module = toroid.load(graph_module())
    assert names(module) == ["bias", "args[0]"]
    (result,) = module.run([np.arange(16, dtype=np.float32), np.ones((8, 16), np.float32)])
    np.testing.assert_array_equal(result[3], np.arange(16) + 1)
    exporter = SimpleNamespace(exported_program_to_stablehlo=lambda program: graph_module())
    monkeypatch.setitem(sys.modules, "torch_xla", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "torch_xla.stablehlo", exporter)
    exported = SimpleNamespace(graph_signature=SimpleNamespace(user_inputs=("x",)), state_dict={})
    assert names(toroid.load(exported)) == ["bias", "x"]


def test_tensors_that_are_not_computed_yet_are_a_program(monkeypatch):
    tensor, weight = (SimpleNamespace(device=SimpleNamespace(type="xla"), number=number) for number in (7, 9))
    xla = SimpleNamespace(
        _get_xla_tensors_hlo_proto=lambda tensors: toroid.load(STEP).serialize(),
        _get_tensors_xla_device_data_node=lambda tensors: ([9, 4], [None, None]),
        _xla_get_tensor_id=lambda x: x.number,
    )
    monkeypatch.setitem(sys.modules, "torch_xla", SimpleNamespace(_XLAC=xla))
    for x in (tensor, [tensor, tensor]):
        module = toroid.load(x, args={"up.weight": weight})
        assert names(module) == ["up.weight", "xla__device_data"]
        assert module.text().count('op_name="up.weight"') == 1  # Not the parameters of `sum`.
    xla._get_xla_tensors_hlo_proto = lambda tensors: 1 // 0
    with pytest.raises(toroid.ToroidError, match="^PyTorch/XLA: integer division"):
        toroid.load(tensor)


def test_what_is_no_program_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch_xla", None)
    with pytest.raises(toroid.ToroidError, match="pip install torch_xla"):
        toroid.load(SimpleNamespace(device=SimpleNamespace(type="xla")))
    with pytest.raises(toroid.ToroidError, match="cannot load .*; export it: torch.export.export"):
        toroid.load(SimpleNamespace(named_parameters=None))


@pytest.mark.skipif(importlib.util.find_spec("torch_xla") is None, reason="torch_xla is not installed")
def test_a_model_of_pytorch_itself():
    os.environ.update(PJRT_DEVICE="CPU", XLA_IR_DEBUG="1", XLA_HLO_DEBUG="1")
    import torch
    import torch_xla

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.up, self.down = torch.nn.Linear(8, 32), torch.nn.Linear(32, 8)

        def forward(self, x):
            return self.down(torch.tanh(self.up(x)))

    model, x = Model(), torch.randn(16, 8)
    shardings = {"x": ("d",), "up.weight": ("m",), "up.bias": ("m",), "down.weight": (None, "m")}
    module = toroid.load(torch.export.export(model, (x,)))
    values = {**model.state_dict(), "x": x}
    (result,) = module.partition(shardings=shardings, mesh={"d": 2, "m": 2}).run([values[name].numpy() for name in names(module)])
    np.testing.assert_allclose(result, model(x).detach().numpy(), rtol=1e-4, atol=1e-5)
    model, x = model.to(torch_xla.device()), x.to(torch_xla.device())
    loss = (model(x) ** 2).mean()
    loss.backward()
    step = toroid.load([loss, *(p.grad for p in model.parameters())], args={**dict(model.named_parameters()), "x": x})
    rows = step.partition(shardings=shardings, mesh={"d": 2, "m": 2}).explain().rows
    assert any("test_torch.py:" in row["source"] for row in rows)
    assert step.check(shardings=shardings, mesh={"d": 2, "m": 2})
