"""Programs whose shardings are known from papers, at the papers' sizes and at a size that runs; each without annotations and with those
of the paper's authors.
"""

import functools
import os
import subprocess
from pathlib import Path
from typing import Any, Callable, NamedTuple, Optional

import jax

from decoders import P, Decoder, decoder_args, decoder_specs, decoder_step, pinned, specs_of, weights_of, whole
from networks import alexnet, bert, bert_of_experts, dense_layers, residual_network, u_net


class Program(NamedTuple):
    """`make(pin)`: a step and its arguments, as shapes; the new state is the step's first result, and the old one's memory its own."""

    title: str
    mesh: dict[str, int]
    make: Callable[[Any], tuple[Callable[..., Any], tuple[Any, ...]]]
    specs: Optional[Any] = None  # An expert's PartitionSpecs of the arguments; None: there is no expert.
    pin: Any = whole  # An expert's constraints.
    memory: Optional[str] = None  # None: the machine's.
    machine: Optional[str] = None  # None: as many cores of a TPU v3 as there are devices.
    # A module with the authors' annotations, in the repository or written into a folder by a call; it is searched with all of them taken off.
    path: Any = None
    drawn: bool = False  # Whether its plan is a picture, too.


def decoder_program(title, c, mesh, rules, memory=None, master=False, slots=None, gradients=None, machine=None):
    """`slots`, `gradients`: rules of the optimizer's arrays and of gradients, if they are not those of weights."""

    def make(pin):
        pin_gradients = lambda tree: tree
        if gradients is not None and pin is not whole:
            pin_gradients = lambda tree: jax.tree.map(jax.lax.with_sharding_constraint, tree, specs_of(weights_of(c), gradients))
        step = decoder_step(c, pin, master=master, pin_gradients=pin_gradients)
        return step, decoder_args(c, master=master)

    return Program(title, mesh, make, decoder_specs(c, rules, master, slots), pinned(rules), memory, machine)


def alexnet_program(title, cores, **sizes):
    def make(pin):
        return alexnet(pin=pin, **sizes)

    _, args = make(whole)
    specs = jax.tree.map(lambda _: P(), args)
    (params, momentum), _, _ = specs
    for tree in (params, momentum):
        for layer in tree["dense"]:
            layer.update(w=P(None, "x"), b=P("x"))
    return Program(title, {"x": cores}, make, (specs[0], P("x"), P("x")), pinned({"features": "x"}), drawn=True)


def image_program(title, mesh, network, cut, **sizes):
    """Weights whole; images, and labels as far as they have its dimensions, cut as an expert says."""

    def make(pin):
        del pin
        return network(**sizes)

    _, args = make(whole)
    return Program(title, mesh, make, (jax.tree.map(lambda _: P(), args[0]), *(P(*cut[: x.ndim]) for x in args[1:])))


def test_of_alpa(title, mesh, network, specs, **sizes):
    return Program(title, mesh, lambda unused_pin: network(**sizes), specs)


def bert_program(title, mesh, **sizes):
    """Columns, then rows, over the last axis of the mesh; the batch over the first one if there are two."""
    axes = list(mesh)
    column, row, cut = P(None, axes[-1]), P(axes[-1], None), P(axes[-1])
    _, (params, *data) = bert(**sizes)
    specs = jax.tree.map(lambda _: P(), params)
    for layer in specs["layers"]:
        layer.update({name: column for name in ("q", "k", "v", "up")}, o=row, down=row, bq=cut, bk=cut, bv=cut, bup=cut)
    if "embedding" in specs:
        specs["embedding"] = row
    batch = P(axes[0]) if len(axes) > 1 else P()
    return test_of_alpa(title, mesh, bert, (specs, batch, batch), **sizes)


def experts_program(title, mesh, *sizes):
    """Experts and the batch over the axis, all else whole."""
    _, (params, *_) = bert_of_experts(*sizes)
    specs = jax.tree.map(lambda _: P(), params) | {"up": P("x"), "down": P("x")}
    return Program(title, mesh, lambda unused_pin: bert_of_experts(*sizes), (specs, P("x"), P("x")))


def published(title, devices, path):
    """A module of a published model with its authors' annotations."""
    return Program(title, {"x": devices}, lambda unused_pin: None, path=path)


def training_step(model):
    """A step of GShard's Table 1, as examples/training_step builds it."""

    def write(folder):
        out = str(folder / f"moe_{model}.hlo.pb")
        command = os.environ.get("TRAINING_STEP", str(Path(__file__).absolute().parents[2] / "bazel-bin/examples/training_step"))
        subprocess.run([command, f"--model={model}", "--as_published", "--sequence_length=256", f"--output={out}"], capture_output=True, check=True)
        return out

    return write


# Rules from logical names to axes. Megatron: features and heads over one axis, the batch over another.
MEGATRON = {"batch": "data", "heads": "model", "hidden": "model", "vocabulary": "model"}
SEQUENCE = MEGATRON | {"tokens": "model"}  # Between blocks tokens are cut, too (Korthikanti).
# MaxText: weights cut over `data` as well, along the model's width.
MAXTEXT = SEQUENCE | {"w": "data", "w_of_experts": "data"}
FSDP = {"batch": "data", "w": "data"}
# Experts over their own axis, the batch over both.
EXPERTS = {"batch": ("data", "expert"), "w": "data", "experts": "expert", "groups": "data", "w_of_experts": "data", "rank": "data"}
DATA = {"batch": "data"}
ZERO = {"w": "data", "norm": "data"}

FULL_SIZE = "tests/corpus/full_size/"
GPT_8B = Decoder(72, 3072, 12288, 24, 51200, batch=512, length=1024, gated=False)
GPT_7B = Decoder(36, 4096, 16384, 32, 50304, batch=64, length=1024, gated=False)
GPT_1B = GPT_7B._replace(layers=4, stacked=False)
LLAMA_8B = Decoder(32, 4096, 14336, 32, 128256, batch=256, length=8192, read_heads=8, chunk=1024)
LLAMA_405B = Decoder(126, 16384, 53248, 128, 128256, batch=256, length=8192, read_heads=8, chunk=1024)
DEEPSEEK = Decoder(
    61, 7168, 18432, 128, 129280, batch=4096, length=4096, chunk=512, ranks=(1536, 512), experts=256, expert_hidden=2048, dense=3
)
TINY = Decoder(2, 64, 256, 8, 512, batch=8, length=16, head=8, gated=False, stacked=False, remat=False)



def zero(stage, c, name, memory):
    """Weights whole but in stage 3, the optimizer's arrays cut from stage 1 on, gradients from stage 2 on."""
    title = f"{name}, {memory}" + (f" (ZeRO {stage})" if stage else "")
    rules = FSDP if stage == 3 else DATA
    slots = FSDP | {"norm": "data"} if stage else DATA
    return decoder_program(title, c, {"data": 64}, rules, memory, True, slots, slots if stage > 1 else None)


@functools.cache
def programs():
    """By name, at the papers' sizes."""
    one_axis = {name: axis for name, axis in SEQUENCE.items() if axis == "model"}
    few = GPT_8B._replace(layers=32, batch=2, stacked=False)
    four, square = {"x": 4}, {"x": 2, "y": 2}
    in_turn = [P(None, "x"), P("x", None)] * 3
    return {
        "alexnet": alexnet_program("AlexNet, batch 1,024 (one weird trick)", 8, batch=1024),
        "megatron": decoder_program("GPT 8.3B, batch 512 (Megatron)", GPT_8B, {"data": 64, "model": 8}, SEQUENCE, "32GiB"),
        "megatron_layers": decoder_program("GPT of 32 layers apart, batch 2", few, {"model": 8}, one_axis, "32GiB"),
        "moe_128": published("MoE(128E, 12L), training (GShard)", 128, FULL_SIZE + "moe_128e_12l_train.shardy.hlo.pb"),
        "moe_512": published("MoE(512E, 12L), training (GShard)", 512, training_step("512e_12l")),
        "moe_2048": published("MoE(2048E, 36L), forward (GShard)", 2048, FULL_SIZE + "moe_2048e_36l_forward.shardy.hlo.pb"),
        "zero_0": zero(0, GPT_1B, "GPT 1.2B, layers apart", "64GiB"),
        "zero_1": zero(1, GPT_1B, "GPT 1.2B, layers apart", "7GiB"),
        "zero_2": zero(2, GPT_1B, "GPT 1.2B, layers apart", "5GiB"),
        "zero_3": zero(3, GPT_1B, "GPT 1.2B, layers apart", "2GiB"),
        "zero_stacked": zero(3, GPT_7B, "GPT 7.5B, batch 64", "8GiB"),
        "u_net": image_program("U-Net, one image of 512 x 512", {"x": 8}, u_net, (None, "x"), batch=1),
        "resnet": image_program("ResNet-50, 2 images of 1,024 x 1,024", {"a": 2, "b": 4}, residual_network, ("a", "b"), batch=2),
        "mlp_rows": test_of_alpa("6 dense layers, 16,384 x 2,048", four, dense_layers, ([P()] * 6, P("x"), P("x")), batch=16384, width=2048),
        "mlp_columns": test_of_alpa("6 dense layers, 2,048 x 16,384", four, dense_layers, (in_turn, P(), P()), batch=2048, width=16384),
        "mlp_square": test_of_alpa(
            "6 dense layers, 2,048 x 16,384, mesh 2 x 2",
            square,
            dense_layers,
            ([P(None, "y"), P("y", None)] * 3, P("x"), P("x")),
            batch=2048,
            width=16384,
        ),
        "bert": bert_program("BERT, 2 layers of 4,096, 8 x 256 tokens", four, batch=8, length=256, hidden=4096, heads=32),
        "bert_square": bert_program("BERT, 2 layers of 4,096, mesh 2 x 2", square, batch=8, length=256, hidden=4096, heads=32),
        "bert_head": bert_program("BERT with its head", four, batch=8, length=256, hidden=4096, heads=32, vocabulary=32768),
        "experts": experts_program("attention and 16 experts, 64 x 256 tokens", four, 64, 256, 1024, 16, 16, 1024),
        "llama_8b": decoder_program("LLaMA-3 8B, batch 256 x 8,192", LLAMA_8B, {"data": 256}, FSDP),
        "llama_8b_layers": decoder_program(
            "LLaMA-3 8B, 32 layers apart, batch 64", LLAMA_8B._replace(stacked=False, batch=64), {"data": 16, "model": 8}, MAXTEXT, "32GiB"
        ),
        "llama_405b": decoder_program("LLaMA-3 405B, batch 256 x 8,192", LLAMA_405B, {"data": 256, "model": 8}, MAXTEXT),
        "deepseek_v3": decoder_program(
            "DeepSeek-V3, batch 4,096 x 4,096", DEEPSEEK, {"data": 64, "expert": 64}, EXPERTS, machine="tpu-v4-16x16x16"
        ),
    }
