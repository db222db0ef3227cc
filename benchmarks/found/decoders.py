"""Models whose shardings are to be found: decoders, with and without experts, as the step of their training.

A model is plain JAX. `pin(x, *names)` is called where people write constraints, with a logical name for each dimension; `whole` leaves
the value alone, so that the program has no annotation. Weights have logical names, too (`Tree.names`), and an expert's annotations are
rules from names to axes of the mesh, as in MaxText.
"""

from typing import NamedTuple, Optional

import jax
import jax.numpy as jnp

P = jax.sharding.PartitionSpec


def whole(x, *unused_names):
    return x


def pinned(rules):
    """A pin that cuts the dimensions that the rules name."""

    def pin(x, *names):
        return jax.lax.with_sharding_constraint(x, spec(rules, names))

    return pin


def spec(rules, names):
    return P(*(rules.get(name) for name in names))


def struct(shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


def is_weight(x):
    return isinstance(x, tuple)


def shapes_of(weights, dtype=jnp.float32):
    """A tree of (name, size) for each dimension, as shapes."""
    return jax.tree.map(lambda w: struct([size for _, size in w], dtype), weights, is_leaf=is_weight)


def specs_of(weights, rules):
    return jax.tree.map(lambda w: spec(rules, [name for name, _ in w]), weights, is_leaf=is_weight)


class Decoder(NamedTuple):
    layers: int
    width: int
    hidden: int
    heads: int
    vocabulary: int
    batch: int
    length: int
    head: int = 128
    read_heads: Optional[int] = None  # Heads of keys and values; None: as many as of queries.
    gated: bool = True
    stacked: bool = True  # Layers are one loop over stacked weights.
    remat: bool = True
    chunk: Optional[int] = None  # Queries, and tokens of the loss, that are computed at once.
    # Low ranks of DeepSeek's attention: of queries, and of keys with values; a head has `head` features and `turned` ones with a position.
    ranks: Optional[tuple[int, int]] = None
    turned: int = 64
    # Experts of all layers but the first `dense` ones.
    experts: int = 0
    expert_hidden: int = 0
    picked: int = 8
    dense: int = 0
    group: int = 1024  # Tokens that are sent to experts together.


def attention_weights(c):
    w, h, k = ("w", c.width), ("heads", c.heads), ("head", c.head)
    read = ("heads", c.read_heads or c.heads)
    if c.ranks is None:
        return {"q": (w, h, k), "k": (w, read, k), "v": (w, read, k), "o": (h, k, w)}
    both = ("head", c.head + c.turned)
    return {
        "q_down": (("rank", c.width), ("none", c.ranks[0])),
        "q_norm": (("norm", c.ranks[0]),),
        "q": (("rank", c.ranks[0]), h, both),
        "kv_down": (("rank", c.width), ("low", c.ranks[1] + c.turned)),
        "kv_norm": (("norm", c.ranks[1]),),
        "k": (("rank", c.ranks[1]), h, k),
        "v": (("rank", c.ranks[1]), h, k),
        "o": (h, k, ("rank", c.width)),
    }


def feed_forward_weights(width, hidden, gated=True):
    up, down = (("w", width), ("hidden", hidden)), (("hidden", hidden), ("w", width))
    return {"gate": up, "up": up, "down": down} if gated else {"up": up, "down": down}


def expert_weights(c):
    e, w, f = ("experts", c.experts), ("w_of_experts", c.width), ("hidden_of_experts", c.expert_hidden)
    return {
        "router": (("w", c.width), ("none", c.experts)),
        "gate": (e, w, f),
        "up": (e, w, f),
        "down": (e, f, w),
        "shared": feed_forward_weights(c.width, c.expert_hidden),
    }


def layer_weights(c, with_experts):
    norm = (("norm", c.width),)
    layer = {"norm_1": norm, "attention": attention_weights(c), "norm_2": norm}
    if with_experts:
        return layer | {"experts": expert_weights(c)}
    return layer | {"dense": feed_forward_weights(c.width, c.hidden, c.gated)}


def weights_of(c):
    """Logical names and sizes of all weights."""

    def layers(count, with_experts):
        layer = layer_weights(c, with_experts)
        if not c.stacked:
            return [layer] * count
        return jax.tree.map(lambda w: (("layers", count), *w), layer, is_leaf=is_weight)

    parts = {"layers": layers(c.layers - c.dense, c.experts > 0)}
    if c.dense:
        parts["dense_layers"] = layers(c.dense, False)
    table = (("vocabulary", c.vocabulary), ("w", c.width))
    return parts | {"embedding": table, "norm": (("norm", c.width),), "logits": table[::-1]}


def norm(x, scale):
    y = x.astype(jnp.float32)
    return (y * jax.lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-5) * scale).astype(x.dtype)


def rotate(x):
    """Turns pairs of features by their token's position."""
    half = x.shape[-1] // 2
    angles = jnp.arange(x.shape[1])[:, None] / 500000 ** (jnp.arange(half) / half)
    sine, cosine = (f(angles)[:, None].astype(x.dtype) for f in (jnp.sin, jnp.cos))
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cosine - b * sine, a * sine + b * cosine], -1)


def attend(q, k, v, first):
    """Queries [batch, query, kv heads, queries a head, features], the first of which is at this place."""
    scores = jnp.einsum("bqhgk,bthk->bhgqt", q, k, preferred_element_type=jnp.float32) / q.shape[-1] ** 0.5
    seen = first + jnp.arange(q.shape[1])[:, None] >= jnp.arange(k.shape[1])
    weights = jax.nn.softmax(jnp.where(seen, scores, -1e9)).astype(v.dtype)
    return jnp.einsum("bhgqt,bthk->bqhgk", weights, v)


def in_chunks(f, chunk, *arrays):
    """f of parts of the arrays along dimension 1, one part after the other; f also takes the place of the first. Parts come first."""
    length = arrays[0].shape[1]
    parts = [jnp.moveaxis(x.reshape(x.shape[0], length // chunk, chunk, *x.shape[2:]), 1, 0) for x in arrays]
    body = jax.checkpoint(lambda part: f(part[0], *part[1:]))
    return jax.lax.map(body, (jnp.arange(length // chunk) * chunk, *parts))


def heads_of(c, w, x):
    """Queries, keys and values, [batch, token, head, feature]."""
    if c.ranks is None:
        q, k, v = (jnp.einsum("bsd,dhk->bshk", x, w[name]) for name in "qkv")
        return rotate(q), rotate(k), v
    low = norm(x @ w["q_down"], w["q_norm"])
    q = jnp.einsum("bsr,rhk->bshk", low, w["q"])
    q = jnp.concatenate([q[..., : c.head], rotate(q[..., c.head :])], -1)
    down = x @ w["kv_down"]
    low = norm(down[..., : c.ranks[1]], w["kv_norm"])
    turned = rotate(down[..., None, c.ranks[1] :])
    k = jnp.einsum("bsr,rhk->bshk", low, w["k"])
    k = jnp.concatenate([k, jnp.broadcast_to(turned, (*k.shape[:3], c.turned))], -1)
    return q, k, jnp.einsum("bsr,rhk->bshk", low, w["v"])


def attention(c, w, x, pin):
    q, k, v = (pin(y, "batch", "none", "heads", "none") for y in heads_of(c, w, x))
    q = q.reshape(*q.shape[:2], k.shape[2], -1, q.shape[-1])
    if c.chunk is None:
        read = attend(q, k, v, 0)
    else:
        read = jnp.moveaxis(in_chunks(lambda first, q: attend(q, k, v, first), c.chunk, q), 0, 1)
    read = pin(read.reshape(*x.shape[:2], c.heads, v.shape[-1]), "batch", "none", "heads", "none")
    return jnp.einsum("bqhk,hkd->bqd", read, w["o"])


def feed_forward(w, x, pin):
    if "gate" in w:
        y = jax.nn.silu(x @ w["gate"]) * (x @ w["up"])
    else:
        y = jax.nn.gelu(x @ w["up"])
    return pin(y, "batch", "none", "hidden") @ w["down"]


def experts(c, w, x, pin):
    """Each token goes to the experts that it likes most, within groups, as far as an expert has room (GShard's algorithm 1)."""
    batch, length, width = x.shape
    y = x.reshape(-1, min(c.group, batch * length), width)
    room = max(1, y.shape[1] * c.picked * 5 // (4 * c.experts))
    likes = jax.nn.sigmoid((y @ w["router"]).astype(jnp.float32))
    gates, picks = jax.lax.top_k(likes, c.picked)
    gates = gates / jnp.sum(gates, -1, keepdims=True)
    chosen = jax.nn.one_hot(picks, c.experts, dtype=jnp.int32)  # [group, token, pick, expert]
    flat = chosen.reshape(y.shape[0], -1, c.experts)
    places = (jnp.sum(jnp.cumsum(flat, 1) * flat, -1) - 1).reshape(picks.shape)
    slots = jax.nn.one_hot(places, room, dtype=x.dtype)  # None beyond the room.
    sent = jnp.einsum("gtke,gtks->gtes", chosen.astype(x.dtype), slots)
    back = jnp.einsum("gtke,gtks,gtk->gtes", chosen.astype(x.dtype), slots, gates.astype(x.dtype))
    arrived = pin(jnp.einsum("gtes,gtd->egsd", sent, y), "none", "batch", "none", "none")
    arrived = pin(arrived, "experts", "groups", "none", "none")
    h = jax.nn.silu(jnp.einsum("egsd,edf->egsf", arrived, w["gate"])) * jnp.einsum("egsd,edf->egsf", arrived, w["up"])
    out = pin(jnp.einsum("egsf,efd->egsd", h, w["down"]), "experts", "groups", "none", "none")
    out = pin(out, "none", "batch", "none", "none")
    return jnp.einsum("gtes,egsd->gtd", back, out).reshape(x.shape)


def layer(c, w, x, pin):
    w = jax.tree.map(lambda y: y.astype(x.dtype), w)
    x = pin(x + attention(c, w["attention"], norm(x, w["norm_1"]), pin), "batch", "tokens", "width")
    y = norm(x, w["norm_2"])
    if "experts" in w:
        y = feed_forward(w["experts"]["shared"], y, pin) + experts(c, w["experts"], y, pin)
    else:
        y = feed_forward(w["dense"], y, pin)
    return pin(x + y, "batch", "tokens", "width")


def loss_of(c, params, tokens, pin, dtype):
    x = pin(params["embedding"].astype(dtype)[tokens], "batch", "tokens", "width")
    body = lambda x, w: (layer(c, w, x, pin), None)
    if c.remat:
        body = jax.checkpoint(body, prevent_cse=not c.stacked)
    for part in [params[key] for key in ("dense_layers", "layers") if key in params]:
        if c.stacked:
            x, _ = jax.lax.scan(body, x, part)
        else:
            for w in part:
                x, _ = body(x, w)
    x = norm(x, params["norm"])
    logits = params["logits"].astype(dtype)

    def surprise(first, x, next_tokens):
        del first
        scores = pin(jnp.einsum("bsd,dv->bsv", x, logits, preferred_element_type=jnp.float32), "batch", "none", "vocabulary")
        hits = jnp.arange(scores.shape[-1]) == next_tokens[..., None]
        return jnp.mean(jax.nn.logsumexp(scores, -1) - jnp.sum(jnp.where(hits, scores, 0), -1))

    targets = jnp.roll(tokens, -1, 1)
    if c.chunk is None:
        return surprise(0, x, targets)
    return jnp.mean(in_chunks(surprise, c.chunk, x, targets))


def decoder_step(c, pin=whole, dtype=jnp.bfloat16, master=False, pin_gradients=lambda gradients: gradients):
    """A step of Adam: state and tokens to state and loss.

    `master`: weights are held in `dtype`, and once more with the averages, in f32.
    """

    def step(state, tokens):
        loss, gradients = jax.value_and_grad(lambda params: loss_of(c, params, tokens, pin, dtype))(state["params"])
        return adam(state, pin_gradients(gradients), master), loss

    return step


def adam(state, gradients, master=False):
    gradients = jax.tree.map(lambda g: g.astype(jnp.float32), gradients)
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["m"], gradients)
    v = jax.tree.map(lambda v, g: 0.95 * v + 0.05 * g * g, state["v"], gradients)
    old = state["master"] if master else state["params"]
    new = jax.tree.map(lambda p, m, v: p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), old, m, v)
    if not master:
        return {"params": new, "m": m, "v": v}
    params = jax.tree.map(lambda p, q: q.astype(p.dtype), state["params"], new)
    return {"params": params, "master": new, "m": m, "v": v}


def decoder_args(c, dtype=jnp.bfloat16, master=False):
    weights = weights_of(c)
    slots = {name: shapes_of(weights) for name in (("master", "m", "v") if master else ("m", "v"))}
    state = {"params": shapes_of(weights, dtype if master else jnp.float32)} | slots
    return state, struct((c.batch, c.length), jnp.int32)


def decoder_specs(c, rules, master=False, slots=None):
    """Specs of state and tokens; `slots`: rules of the optimizer's arrays, if they are others."""
    weights = weights_of(c)
    of_slots = specs_of(weights, slots or rules)
    state = {"params": specs_of(weights, rules)} | {name: of_slots for name in (("master", "m", "v") if master else ("m", "v"))}
    return state, spec(rules, ("batch", "none"))
