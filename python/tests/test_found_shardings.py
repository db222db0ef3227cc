"""Shardings known from papers are found in programs without annotations, and give the values of one device.

Structure is looked at where arrays are large enough for a cut to pay; the same annotations are then executed in a copy that is small.
"""

import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import toroid.jax
from toroid._commands import run
from toroid._results import FoundShardings

FOLDER = Path(__file__).absolute().parents[2] / "benchmarks" / "found"
sys.path.append(str(FOLDER))

from decoders import Decoder, decoder_args, decoder_step  # noqa: E402  pylint: disable=wrong-import-position
from networks import alexnet, bert_of_experts, dense_layers, u_net  # noqa: E402  pylint: disable=wrong-import-position


def module_of(made):
    step, args = made
    return toroid.jax.lower(step, *args, donate_argnums=0)


def decoder(c, master=False):
    return decoder_step(c, master=master), decoder_args(c, master=master)


def kinds(partitioned):
    return {kind: c["count"] for kind, c in partitioned.statistics["collectives"].items()}


def sent(partitioned):
    return sum(c["sent_bytes"] for c in partitioned.statistics["collectives"].values())


def search(module, mesh, memory=None):
    """What is found by few steps of the solver."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "annotations")
        words = [module.path, "--search=shardings", "--search_steps=6", f"--mesh={axes_of(mesh)}", f"--annotations={out}"]
        text = run("hlo-partition", words + ([f"--memory={memory}"] if memory else []))
        return FoundShardings.read(text, out.read_text())


def searched(made, mesh, memory=None):
    """What is found, and the program that it gives."""
    module = module_of(made)
    found = search(module, mesh, memory)
    return found, module.partition(shardings=found.shardings)


def axes_of(mesh):
    return ",".join(f"{axis}={size}" for axis, size in mesh.items())


def whole_plan(made, found, mesh):
    """The sharding of every value, by its name in the module."""
    module = module_of(made)
    words = [f"--mesh={axes_of(mesh)}"]
    words += [word for name, text in found.shardings.items() for word in ("--shard", f"{name}={text}")]
    table = run("hlo-partition", [module.path, "--explain=plan", *words])
    rows = re.findall(r"^\S*?/(\S+) +\w+\[([\d,]*)\] +(\[.*?\])  ", table, re.M)
    return {name: ([int(n) for n in shape.split(",") if n], sharding) for name, shape, sharding in rows}


def check(made, found):
    """The annotations give the values of one device, at a size that runs."""
    checked = module_of(made).check(shardings=found.shardings)
    assert checked.equal, checked


def test_convolutions_are_cut_by_batch_and_dense_layers_by_features():
    mesh = {"x": 8}
    made = alexnet(1024)
    found, partitioned = searched(made, mesh)
    plan = whole_plan(made, found, mesh)
    weights = {name: sharding for name, (shape, sharding) in plan.items() if re.fullmatch(r"state_0_.*__w__.*", name) and len(shape) in (2, 4)}
    for name, sharding in weights.items():
        if "convolutions" in name:
            assert sharding == "[{}, {}, {}, {}]", name
    # The last dense layer has 7 % of the weights.
    assert all('"x"' in weights[name] for name in weights if re.search(r"dense___[01]_", name)), weights
    images = [sharding for shape, sharding in plan.values() if len(shape) == 4 and shape[0] == 1024]
    assert images and set(images) == {'[{"x"}, {}, {}, {}]'}
    # No gradient of the largest dense weight is reduced: less is sent than that weight has.
    assert sent(partitioned) < 4 * 4096 * 12544
    check(alexnet(16, size=64, channels=(8, 8, 8, 8, 8), dense=(64, 64, 16)), found)


SMALL = Decoder(2, 2048, 8192, 16, 32768, batch=2, length=512, gated=False, stacked=False, remat=False)
# No two sizes are equal, as in the larger one: names of ops are then the same.
TINY = Decoder(2, 96, 384, 8, 512, batch=16, length=32, head=6, gated=False, stacked=False, remat=False)


def test_layers_have_columns_then_rows_and_one_reduction_per_block_and_direction():
    mesh = {"model": 8}
    found, partitioned = searched(decoder(SMALL), mesh)
    plan = whole_plan(decoder(SMALL), found, mesh)
    by_heads, by_input_heads = '[{}, {"model"}, {}]', '[{"model"}, {}, {}]'
    expected = {"q": by_heads, "k": by_heads, "v": by_heads, "o": by_input_heads, "up": '[{}, {"model"}]', "down": '[{"model"}, {}]'}
    for name, (_, sharding) in plan.items():
        if weight := re.match(r"state__params____layers____\d___(?:attention|dense)____([a-z]+)__", name):
            assert sharding == expected[weight[1]], name
    # Reductions of whole activations, 2 forward and 2 backward for each layer, and one for the logits' gradient.
    rows = partitioned.explain(full=True).rows
    large = [row["opcode"] for row in rows if row["opcode"] in ("all-reduce", "reduce-scatter") and row["sent_bytes"] > 1_000_000]
    assert len(large) <= 4 * SMALL.layers + 1, large
    check(decoder(TINY), found)


def test_a_decoder_of_32_layers_needs_few_annotations():
    c = SMALL._replace(layers=32, width=512, hidden=2048, heads=8, vocabulary=2048)
    found = search(module_of(decoder(c)), {"model": 8})
    assert int(re.search(r"found: (\d+) annotation", found)[1]) <= 20


def share_of_cut(plan, part):
    """Which share of the weights, or of their averages, is cut."""
    return statistics.mean("data" in s for name, (shape, s) in plan.items() if f"state__{part}__" in name and len(shape) > 1)


def test_state_is_cut_in_turn_as_memory_falls():
    c = SMALL._replace(layers=1, width=1024, hidden=4096, heads=8, vocabulary=512, batch=32, length=256)
    mesh, made = {"data": 8}, decoder(c, master=True)
    peaks, cut = [], []
    for memory in (1 << 34, 150 << 20, 100 << 20):
        found, partitioned = searched(made, mesh, memory)
        peaks.append(partitioned.statistics["memory"]["peak"])
        assert peaks[-1] <= memory
        plan = whole_plan(made, found, mesh)
        cut.append((share_of_cut(plan, "m"), share_of_cut(plan, "params")))
        check(decoder(TINY._replace(layers=1), master=True), found)
    assert peaks == sorted(peaks, reverse=True)
    (slots, weights), (some_slots, _), (all_slots, all_weights) = cut
    # The optimizer's state first, which costs least to cut, then weights.
    assert weights == 0 and slots <= some_slots <= all_slots == 1 and all_weights > 0, cut


@pytest.mark.parametrize("batch, width, most", [(16384, 2048, 1), (2048, 16384, 5)])
def test_products_send_as_much_as_the_reductions_that_alpa_counts(batch, width, most):
    found, partitioned = searched(dense_layers(batch, width), {"x": 4})
    # All-reduces of all weights at once; or of activations, one of which may be halves: a reduce-scatter, and an all-gather elsewhere.
    reduced = 6 * width * width if most == 1 else batch * width
    assert sent(partitioned) <= most * 4 * reduced * 2 * 3 / 4 + 100
    assert kinds(partitioned).get("all-reduce", 0) <= most
    check(dense_layers(16, 32), found)


def test_experts_are_cut_and_tokens_travel_four_times():
    found, partitioned = searched(bert_of_experts(64, 256, 1024, 16, 16, 1024), {"x": 4})
    assert kinds(partitioned) == {"all-to-all": 4, "all-reduce": 1}
    check(bert_of_experts(8, 8, 16, 4, 8, 16), found)


def test_one_image_is_cut_into_stripes_that_exchange_their_borders():
    mesh, made = {"x": 8}, u_net(1, 512, (32, 64, 128))
    found, partitioned = searched(made, mesh)
    plan = whole_plan(made, found, mesh)
    images = [sharding for shape, sharding in plan.values() if len(shape) == 4 and shape[:3] == [1, 512, 512]]
    stripes = ('[{}, {"x"}, {}, {}]', '[{}, {}, {"x"}, {}]')
    assert images and sum(sharding in stripes for sharding in images) > 0.9 * len(images)
    assert kinds(partitioned)["collective-permute"] > 0
    check(u_net(1, 64, (8, 16, 32)), found)


def lines_of(script, *words):
    done = subprocess.run([sys.executable, str(FOLDER / script), *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_table_and_its_picture_hold_what_was_found(tmp_path):
    row = lines_of("measure.py", "experts", f"--keep={tmp_path}", f"--pictures={tmp_path}")[-1]
    ours, theirs = map(float, re.findall(r"([\d.]+) ms", row))
    assert row.startswith("attention and 16 experts") and ours <= theirs and "5 / 5" in row, row
    assert (tmp_path / "found_shardings.svg").read_text().count("attention and 16 experts") > 0
    assert "--search=shardings --mesh=x=4 --machine=tpu-v3-8" in (tmp_path / "README").read_text()


def test_what_is_advised_makes_the_program_of_xla_send_less():
    row = lines_of("advice.py", "rows_for_columns")[-1]
    here, here_after, xla, xla_after = (float(size) for size in re.findall(r"([\d.]+) \( *\d+\)", row))
    assert here_after < 0.8 * here and xla_after < 0.8 * xla, row
