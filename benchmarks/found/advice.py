"""What `hlo-partition --advise` says of programs with one bad annotation, tried in XLA.

    python3 benchmarks/found/advice.py [--write] [PLANTED ...]

Each program is annotated well but for one place. The first change that is advised is made in the JAX program; XLA partitions both for eight
devices of the host, and the bytes that a device sends are those of XLA's own collectives. --write writes results/found_advice.txt.
"""

import argparse
import os
import re
import tempfile
from pathlib import Path

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import measure  # noqa: E402  pylint: disable=wrong-import-position

import jax  # noqa: E402  pylint: disable=wrong-import-position

import toroid.jax  # noqa: E402  pylint: disable=wrong-import-position
from decoders import Decoder, P, decoder_args, decoder_specs, decoder_step, pinned  # noqa: E402  pylint: disable=wrong-import-position
from networks import bert_of_experts, dense_layers  # noqa: E402  pylint: disable=wrong-import-position
from programs import MEGATRON  # noqa: E402  pylint: disable=wrong-import-position

MESH = {"data": 2, "model": 4}
C = Decoder(2, 256, 1024, 8, 1024, batch=8, length=64, head=32, gated=False, stacked=False, remat=False)


def decoder(where=None, at=None, path=None, cut=None):
    """A decoder of Megatron's annotations, its embedding cut along the width, but for one place.

    Values that are constrained by the logical name `where` get `at`; arguments whose paths match `path` get `cut`. Without a place no change
    that --advise tries saves more than 3 %.
    """
    good = pinned(MEGATRON)

    def pin(x, *names):
        return jax.lax.with_sharding_constraint(x, at) if where in names else good(x, *names)

    def chosen(keys, spec):
        name = jax.tree_util.keystr(keys)
        if path and re.search(path, name):
            return cut
        return P(None, "model") if "['embedding']" in name else spec

    state, tokens = decoder_specs(C, MEGATRON)
    state = jax.tree_util.tree_map_with_path(chosen, state, is_leaf=lambda x: isinstance(x, P))
    return decoder_step(C, pin), decoder_args(C), (state, tokens)


def hidden_whole(advised=None):
    """The hidden values of feed-forward layers are constrained to be whole along their features."""
    return decoder(where="hidden", at=advised or P("data"))


def heads_whole(advised=None):
    """Queries, keys, values and what is read are constrained to be whole along the heads."""
    return decoder(where="heads", at=advised or P("data"))


def scores_whole(advised=None):
    """The scores of all words are constrained to be whole along the vocabulary."""
    return decoder(where="vocabulary", at=advised or P("data"))


def up_by_rows(advised=None):
    """The first weights of feed-forward layers are cut along the model's width, their averages, too."""
    return decoder(path=r"\['up'\]", cut=advised or P("model", None))


def down_by_columns(advised=None):
    """The second weights of feed-forward layers are cut along the model's width, their averages, too."""
    return decoder(path=r"\['down'\]", cut=advised or P(None, "model"))


def query_by_width(advised=None):
    """The weights of the query are cut along the model's width, their averages, too."""
    return decoder(path=r"\['q'\]", cut=advised or P("model", None, None))


def value_by_width(advised=None):
    """The weights of the value are cut along the model's width, their averages, too."""
    return decoder(path=r"\['v'\]\Z", cut=advised or P("model", None, None))


def average_by_rows(advised=None):
    """The first averages of the first weights of feed-forward layers are cut otherwise than these."""
    return decoder(path=r"^\['m'\].*\['up'\]", cut=advised or P("model", None))


def rows_for_columns(advised=None):
    """The first of two dense layers is cut along its rows, as the second one."""
    step, args = dense_layers(512, 1024, layers=2)
    return step, args, ([advised or P("model"), P("model")], P("data"), P("data"))


def experts_by_hidden(advised=None):
    """The experts' first weights are cut along the model's width instead of along the experts."""
    step, args = bert_of_experts(16, 64, 256, 8, 8, 64)
    specs = jax.tree.map(lambda _: P(), args[0]) | {"up": advised or P(None, ("data", "model")), "down": P(("data", "model"))}
    return step, args, (specs, P(("data", "model")), P(("data", "model")))


# By what was planted: how the first advice begins.
PLANTED = {
    hidden_whole: "sharding_constraint",
    heads_whole: "sharding_constraint",
    scores_whole: "sharding_constraint",
    up_by_rows: r"state\[.*\['up'\]",
    down_by_columns: r"state\[.*\['down'\]",
    query_by_width: r"state\[.*\['q'\]",
    value_by_width: r"state\[.*\['v'\]",
    average_by_rows: r"state\['m'\].*\['up'\]",
    rows_for_columns: r"params\[0\]",
    experts_by_hidden: r"params\['up'\]",
}


def spec_of(text):
    """P('data', None) of "P('data', None)"."""
    return eval(text, {"__builtins__": {}, "P": P})


def sent(module, folder):
    """Bytes and collectives of a program that is partitioned, or has its shardings."""
    path = folder / "module.hlo"
    path.write_bytes(module)
    out = folder / "stats.json"
    measure.run([measure.binary("hlo-partition"), str(path), f"--stats={out}"])
    stats = measure.json.loads(out.read_text())["collectives"].values()
    return sum(c["sent_bytes"] for c in stats), sum(c["count"] for c in stats)


def in_xla(made, folder):
    step, args, specs = made
    mesh = jax.make_mesh(tuple(MESH.values()), tuple(MESH), axis_types=(jax.sharding.AxisType.Auto,) * len(MESH))
    with jax.sharding.set_mesh(mesh):
        place = lambda tree: jax.tree.map(lambda spec: jax.sharding.NamedSharding(mesh, spec), tree, is_leaf=lambda x: isinstance(x, P))
        compiled = jax.jit(step, in_shardings=place(specs), out_shardings=(place(specs[0]), None)).lower(*args).compile()
    return sent(compiled.as_text().encode(), folder)


def here(made):
    step, args, specs = made
    return toroid.jax.lower(step, *args, mesh=MESH, in_shardings=specs, out_shardings=(specs[0], None))


def row(plant, folder):
    module = here(plant())
    advice = str(module.advise())
    first = re.search(r"advice: (.*?) (P\(.*?\)) instead of", advice)
    if first is None or not re.match(PLANTED[plant], first[1]):
        raise SystemExit(f"{plant.__name__}: the first advice does not name what was planted: {advice}")
    mended = plant(spec_of(first[2]))
    bytes_of = [sent(module.serialize(), folder), sent(here(mended).serialize(), folder), in_xla(plant(), folder), in_xla(mended, folder)]
    cells = "".join(f"{size / 1e6:10.2f} ({count:3})" for size, count in bytes_of)
    return f"{plant.__name__.replace('_', ' '):20}{cells}  {first[1].split(' (')[0]}: {spec_of(first[2])}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    known = {plant.__name__: plant for plant in PLANTED}
    parser.add_argument("planted", nargs="*", metavar="PLANTED", help=", ".join(known))
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    lines = [
        "MB that a device sends in a step, and the number of collectives, before and after the first change that --advise names.",
        "",
        f"{'planted':20}{'here: before':>16}{'after':>16}{'XLA: before':>16}{'after':>16}  advised",
    ]
    print("\n".join(lines), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for plant in [known[name] for name in options.planted or known]:
            lines.append(row(plant, Path(folder)))
            print(lines[-1], flush=True)
    if options.write:
        (measure.HERE.parent / "results/found_advice.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
