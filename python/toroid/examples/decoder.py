"""A decoder like Llama's, in plain JAX: shapes without arrays, shardings by axis, a training step.

    params, tokens = shapes("7B")
    toroid.jax.explain(train_step, params, tokens, mesh={"data": 16, "model": 16}, in_shardings=specs("7B"))
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

P: Any = jax.sharding.PartitionSpec
Tree = dict[str, Any]


class Size(NamedTuple):
    layers: int
    width: int
    hidden: int  # Of the feed-forward layers.
    heads: int
    vocabulary: int


SIZES = {
    "tiny": Size(layers=2, width=64, hidden=256, heads=8, vocabulary=512),
    "1B": Size(layers=16, width=2048, hidden=5632, heads=16, vocabulary=32000),
    "7B": Size(layers=32, width=4096, hidden=11008, heads=32, vocabulary=32000),
    "13B": Size(layers=40, width=5120, hidden=13824, heads=40, vocabulary=32000),
}


def shapes(size: str, batch: int = 256, length: int = 2048, dtype: Any = jnp.bfloat16) -> tuple[Tree, Any]:
    """The parameters and a batch of tokens, as shapes and types alone."""
    layers, width, hidden, heads, vocabulary = SIZES[size]
    struct: Any = jax.ShapeDtypeStruct

    def array(*dims: int) -> Any:
        return struct(dims, dtype)

    head = width // heads
    layer = {
        "norm_1": array(width),
        "w_q": array(width, heads, head),
        "w_k": array(width, heads, head),
        "w_v": array(width, heads, head),
        "w_o": array(heads, head, width),
        "norm_2": array(width),
        "w_gate": array(width, hidden),
        "w_up": array(width, hidden),
        "w_down": array(hidden, width),
    }
    params = {
        "embedding": array(vocabulary, width),
        "layers": [dict(layer) for _ in range(layers)],
        "norm": array(width),
        "logits": array(width, vocabulary),
    }
    return params, struct((batch, length), jnp.int32)


def specs(size: str) -> tuple[Tree, Any]:
    """Weights cut over both axes of a mesh (`data`, `model`), tokens over `data`."""
    layer = {
        "norm_1": P(),
        "w_q": P("data", "model"),
        "w_k": P("data", "model"),
        "w_v": P("data", "model"),
        "w_o": P("model", None, "data"),
        "norm_2": P(),
        "w_gate": P("data", "model"),
        "w_up": P("data", "model"),
        "w_down": P("model", "data"),
    }
    params = {
        "embedding": P("model", "data"),
        "layers": [dict(layer) for _ in range(SIZES[size].layers)],
        "norm": P(),
        "logits": P("data", "model"),
    }
    return params, P("data")


def norm(x: Any, scale: Any) -> Any:
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5) * scale


def rotate(x: Any) -> Any:
    """Turns pairs of features by their token's position."""
    half = x.shape[-1] // 2
    angles = jnp.arange(x.shape[1])[:, None] / 10000 ** (jnp.arange(half) / half)
    sine, cosine = (f(angles)[:, None].astype(x.dtype) for f in (jnp.sin, jnp.cos))
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cosine - b * sine, a * sine + b * cosine], -1)


def attention(w: Tree, x: Any) -> Any:
    q = rotate(jnp.einsum("bsd,dhk->bshk", x, w["w_q"]))
    k = rotate(jnp.einsum("bsd,dhk->bshk", x, w["w_k"]))
    v = jnp.einsum("bsd,dhk->bshk", x, w["w_v"])
    scores = jnp.einsum("bqhk,bthk->bhqt", q, k) / q.shape[-1] ** 0.5
    seen = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    weights = jax.nn.softmax(jnp.where(seen, scores, -1e9))
    read = jnp.einsum("bhqt,bthk->bqhk", weights, v)
    return jnp.einsum("bqhk,hkd->bqd", read, w["w_o"])


def feed_forward(w: Tree, x: Any) -> Any:
    hidden = jax.nn.silu(x @ w["w_gate"]) * (x @ w["w_up"])
    return hidden @ w["w_down"]


def loss(params: Tree, tokens: Any) -> Any:
    x = params["embedding"][tokens]
    for w in params["layers"]:
        x = x + attention(w, norm(x, w["norm_1"]))
        x = x + feed_forward(w, norm(x, w["norm_2"]))
    logits = jax.nn.log_softmax((norm(x, params["norm"]) @ params["logits"]).astype(jnp.float32))
    return -jnp.mean(jnp.take_along_axis(logits[:, :-1], tokens[:, 1:, None], -1))


def train_step(params: Tree, tokens: Any) -> tuple[Any, Any]:
    """The parameters after a step of gradient descent, and the loss before it."""
    value, gradients = jax.value_and_grad(loss)(params, tokens)
    return jax.tree.map(lambda p, g: p - 1e-4 * g, params, gradients), value
