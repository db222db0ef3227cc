"""Networks whose shardings are to be found: convolutional ones, products one after the other, and Alpa's tests.

As in decoders.py, `pin(x, *names)` stands where people write constraints.
"""

import math

import jax
import jax.numpy as jnp

from decoders import struct, whole

IMAGES = ("NHWC", "HWIO", "NHWC")


def convolve(x, w, stride=1):
    return jax.lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=IMAGES)


def largest(x, window, stride):
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, window, window, 1), (1, stride, stride, 1), "SAME")


def surprise(scores, labels):
    """Mean cross entropy over all but the last dimension."""
    hits = jnp.arange(scores.shape[-1]) == labels[..., None]
    return jnp.mean(jax.nn.logsumexp(scores, -1) - jnp.sum(jnp.where(hits, scores, 0), -1))


def momentum_step(loss):
    """loss(params, *data): (params, momentum), data -> (params, momentum), loss."""

    def step(state, *data):
        params, momentum = state
        value, gradients = jax.value_and_grad(loss)(params, *data)
        momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, gradients)
        return (jax.tree.map(lambda p, m: p - 1e-3 * m, params, momentum), momentum), value

    return step


def plain_step(loss):
    """loss(params, *data): params, data -> params, loss."""

    def step(params, *data):
        value, gradients = jax.value_and_grad(loss)(params, *data)
        return jax.tree.map(lambda p, g: p - 1e-3 * g, params, gradients), value

    return step


def alexnet(batch, size=224, channels=(64, 192, 384, 256, 256), dense=(4096, 4096, 1000), pin=whole):
    """The network of "one weird trick": five convolutions, three dense layers."""
    kernels = (11, 5, 3, 3, 3)
    convolutions = [struct((k, k, i, o)) for k, i, o in zip(kernels, (3, *channels), channels)]
    side = math.ceil(math.ceil(math.ceil(size / 4) / 2) / 2)
    features = math.ceil(side / 2) ** 2 * channels[-1]
    params = {
        "convolutions": [{"w": w, "b": struct(w.shape[-1:])} for w in convolutions],
        "dense": [{"w": struct((i, o)), "b": struct((o,))} for i, o in zip((features, *dense), dense)],
    }

    def loss(params, images, labels):
        x = images
        for i, layer in enumerate(params["convolutions"]):
            x = jax.nn.relu(convolve(x, layer["w"], 4 if i == 0 else 1) + layer["b"])
            x = largest(x, 3, 2) if i in (0, 1, 4) else x
        x = x.reshape(batch, -1)
        for i, layer in enumerate(params["dense"]):
            x = pin(x, "none", "none") @ layer["w"] + layer["b"]
            x = pin(x if i == len(dense) - 1 else jax.nn.relu(x), "none", "features")
        return surprise(x, labels)

    return momentum_step(loss), ((params, params), struct((batch, size, size, 3)), struct((batch,), jnp.int32))


def u_net(batch, size=512, channels=(64, 128, 256, 512, 1024), classes=2):
    """Down and up again, two convolutions at each size, with what was there on the way down."""
    pair = lambda i, o: [struct((3, 3, i, o)), struct((3, 3, o, o))]
    params = {
        "down": [pair(i, o) for i, o in zip((1, *channels), channels)],
        "widen": [struct((2, 2, i, o)) for i, o in zip(channels[:0:-1], channels[-2::-1])],
        "up": [pair(2 * o, o) for o in channels[-2::-1]],
        "classes": struct((1, 1, channels[0], classes)),
    }

    def both(x, pair):
        for w in pair:
            x = jax.nn.relu(convolve(x, w))
        return x

    def loss(params, images, labels):
        x, kept = images, []
        for i, weights in enumerate(params["down"]):
            x = both(largest(x, 2, 2) if i else x, weights)
            kept.append(x)
        for widen, weights, before in zip(params["widen"], params["up"], kept[-2::-1]):
            x = jax.lax.conv_transpose(x, widen, (2, 2), "SAME", dimension_numbers=IMAGES)
            x = both(jnp.concatenate([before, x], -1), weights)
        return surprise(convolve(x, params["classes"]), labels)

    data = struct((batch, size, size, 1)), struct((batch, size, size), jnp.int32)
    return momentum_step(loss), ((params, params), *data)


def residual_network(batch, size=1024, width=64, blocks=(3, 4, 6, 3), classes=1000):
    """ResNet-50, with norms over the batch."""
    normed = lambda *shape: {"w": struct(shape), "scale": struct(shape[-1:]), "shift": struct(shape[-1:])}
    params, channels = {"stem": normed(7, 7, 3, width), "blocks": []}, width
    for stage, count in enumerate(blocks):
        inner = width << stage
        for i in range(count):
            block = [normed(1, 1, channels, inner), normed(3, 3, inner, inner), normed(1, 1, inner, 4 * inner)]
            params["blocks"].append({"path": block} | ({"straight": normed(1, 1, channels, 4 * inner)} if i == 0 else {}))
            channels = 4 * inner
    params["classes"] = struct((channels, classes))
    strides = [2 if stage and i == 0 else 1 for stage, count in enumerate(blocks) for i in range(count)]

    def apply(layer, x, stride=1):
        x = convolve(x, layer["w"], stride)
        mean = jnp.mean(x, (0, 1, 2))
        variance = jnp.mean(x * x, (0, 1, 2)) - mean * mean
        return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * layer["scale"] + layer["shift"]

    def loss(params, images, labels):
        x = largest(jax.nn.relu(apply(params["stem"], images, 2)), 3, 2)
        for block, stride in zip(params["blocks"], strides):
            y = jax.nn.relu(apply(block["path"][0], x))
            y = jax.nn.relu(apply(block["path"][1], y, stride))
            y = apply(block["path"][2], y)
            x = jax.nn.relu(y + (apply(block["straight"], x, stride) if "straight" in block else x))
        return surprise(jnp.mean(x, (1, 2)) @ params["classes"], labels)

    data = struct((batch, size, size, 3)), struct((batch,), jnp.int32)
    return momentum_step(loss), ((params, params), *data)


def dense_layers(batch, width, layers=6):
    """Alpa's test of products: as many layers, a mean square error."""

    def loss(weights, x, y):
        for i, w in enumerate(weights):
            x = x @ w if i == layers - 1 else jax.nn.relu(x @ w)
        return jnp.mean((x - y) ** 2)

    return plain_step(loss), ([struct((width, width))] * layers, struct((batch, width)), struct((batch, width)))


def normed(w, x):
    mean = jnp.mean(x, -1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(jnp.mean((x - mean) ** 2, -1, keepdims=True) + 1e-6) * w["scale"] + w["shift"]


def attended(w, x, heads):
    split = lambda name: (x @ w[name] + w["b" + name]).reshape(*x.shape[:2], heads, -1)
    scores = jnp.einsum("bqhk,bthk->bhqt", split("q"), split("k")) / math.sqrt(x.shape[-1] / heads)
    read = jnp.einsum("bhqt,bthk->bqhk", jax.nn.softmax(scores), split("v")).reshape(x.shape)
    return read @ w["o"] + w["bo"]


def bert_layer(hidden):
    square, line = struct((hidden, hidden)), struct((hidden,))
    norm = {"scale": line, "shift": line}
    attention = {name: square for name in "qkvo"} | {"b" + name: line for name in "qkvo"}
    dense = {"up": struct((hidden, 4 * hidden)), "bup": struct((4 * hidden,)), "down": struct((4 * hidden, hidden)), "bdown": line}
    return attention | dense | {"norm_1": norm, "norm_2": norm}


def after_attention(w, x, heads):
    return normed(w["norm_1"], x + attended(w, x, heads))


def bert(batch, length, hidden, heads, layers=2, vocabulary=0):
    """Alpa's test of a Transformer: layers alone, or with the embedding and a head."""
    params = {"layers": [bert_layer(hidden)] * layers}
    if vocabulary:
        params["embedding"] = struct((vocabulary, hidden))

    def loss(params, x, y):
        if vocabulary:
            x = params["embedding"][x]
        for w in params["layers"]:
            x = after_attention(w, x, heads)
            x = normed(w["norm_2"], x + jax.nn.gelu(x @ w["up"] + w["bup"]) @ w["down"] + w["bdown"])
        if vocabulary:
            return surprise(x @ params["embedding"].T, y)
        return jnp.mean((x - y) ** 2)

    data = struct((batch, length), jnp.int32) if vocabulary else struct((batch, length, hidden))
    return plain_step(loss), (params, data, data)


def bert_of_experts(batch, length, hidden, heads, experts, group):
    """Alpa's test of experts: attention, then experts in place of the dense layers; two experts for each token."""
    layer = bert_layer(hidden)
    params = {name: layer[name] for name in layer if name not in ("up", "bup", "down", "bdown")}
    params |= {"router": struct((hidden, experts)), "up": struct((experts, hidden, 8 * hidden)), "down": struct((experts, 8 * hidden, hidden))}
    room = 2 * group // experts

    def loss(params, x, y):
        x = after_attention(params, x, heads)
        tokens = x.reshape(-1, group, hidden)
        likes = jax.nn.softmax(tokens @ params["router"])
        sent, masked, taken = jnp.zeros((*likes.shape, room)), likes, 0.0
        for _ in range(2):
            chosen = jax.nn.one_hot(jnp.argmax(masked, -1), experts)
            places = jnp.cumsum(chosen, 1) - 1 + taken
            taken = taken + jnp.sum(chosen, 1, keepdims=True)
            slots = jax.nn.one_hot(jnp.where(chosen > 0, places, -1).astype(jnp.int32), room)
            sent = sent + (likes * chosen)[..., None] * slots
            masked = masked * (1 - chosen)
        arrived = jnp.einsum("gtes,gtd->egsd", (sent > 0).astype(x.dtype), tokens)
        h = jax.nn.relu(jnp.einsum("egsd,edf->egsf", arrived, params["up"]))
        out = jnp.einsum("gtes,egsd->gtd", sent, jnp.einsum("egsf,efd->egsd", h, params["down"]))
        return jnp.mean((normed(params["norm_2"], x + out.reshape(x.shape)) - y) ** 2)

    data = struct((batch, length, hidden))
    return plain_step(loss), (params, data, data)
