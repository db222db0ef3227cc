"""Programs whose run time is compared with jaxlib's: each makes its own inputs, repeats its work, and returns one number.

A program is a function of nothing. `trips` is how often its body runs: jaxlib takes about a tenth of a second, so that the start of a process does not
hide the work. The first 23 are single kinds of work, the others pieces of models.
"""

import jax
import jax.numpy as jnp
from jax import lax

PROGRAMS = {}


def program(trips):
    """Adds a program: the function maps its state, an array or a tree, to the next state."""

    def add(body):
        PROGRAMS[body.__name__] = (body, trips)
        return body

    return add


def ramp(*shape, scale=1.0, dtype=jnp.float32):
    """Numbers between -scale and scale, all over the array."""
    n = 1
    for size in shape:
        n *= size
    values = (jnp.arange(n, dtype=jnp.uint32) * jnp.uint32(2654435761)) >> 8
    return ((values.astype(jnp.float32) * (2.0**-23) - 1.0) * scale).reshape(shape).astype(dtype)


def total(tree):
    return sum(jnp.sum(leaf.real.astype(jnp.float32)) for leaf in jax.tree.leaves(tree))


def entry(name):
    """The program as a function without arguments."""
    body, trips = PROGRAMS[name]
    start = STARTS[name]

    def run():
        return total(lax.fori_loop(0, trips, lambda i, state: body(state), start()))

    run.__name__ = name
    return run


STARTS = {}


def starts(make):
    """The state a program begins with."""

    def add(body):
        STARTS[body.__name__] = make
        return body

    return add


MEGA = 1 << 20


@starts(lambda: ramp(4 * MEGA))
@program(400)
def multiply_add(x):
    return x * 0.5 + 0.25


@starts(lambda: ramp(MEGA))
@program(800)
def chain_of_ten(x):
    y = x * 1.01 + 0.3
    y = y * y - x
    y = y * 0.7 + x * 0.1
    return jnp.maximum(jnp.minimum(y - 0.2, 3.0), -3.0) * 0.9


@starts(lambda: ramp(4 * MEGA, scale=3))
@program(50)
def gelu(x):
    return jax.nn.gelu(x) + 0.1


@starts(lambda: ramp(4 * MEGA))
@program(30)
def exp_tanh(x):
    return jnp.tanh(jnp.exp(x) * 0.3)


@starts(lambda: ramp(8192, 512))
@program(30)
def softmax(x):
    return jax.nn.softmax(x, axis=-1) * 100 - 0.1


@starts(lambda: ramp(8192, 512))
@program(30)
def layer_norm(x):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-5) * 1.1 + 0.1


@starts(lambda: ramp(8192, 512))
@program(220)
def column_sum(x):
    return x * 0.9 + x.sum(0) * 1e-5


@starts(lambda: ramp(2048, 1024, scale=0.01))
@program(20)
def cumulative_sum(x):
    return jnp.cumsum(x, axis=1) * 0.001


@starts(lambda: ramp(MEGA).astype(jnp.complex64))
@program(8)
def fft(x):
    return jnp.fft.fft(x) * (1.0 / 1024)


@starts(lambda: jax.random.key_data(jax.random.key(7)))
@program(20)
def random_normal(key):
    keys = jax.random.split(jax.random.wrap_key_data(key))
    draws = jax.random.normal(keys[0], (MEGA,))
    return jax.random.key_data(keys[1]) + (draws.sum() > 1e9).astype(jnp.uint32)


@starts(lambda: ramp(32768, 128))
@program(20)
def gather_rows(x):
    rows = (jnp.arange(32768, dtype=jnp.int32) * 7919) % 32768
    return x[rows] * 0.9


@starts(lambda: ramp(4096, 128))
@program(160)
def scatter_add(x):
    rows = (jnp.arange(32768, dtype=jnp.int32) * 7919) % 4096
    return x.at[rows].add(jnp.tile(x, (8, 1)) * 0.01)


@starts(lambda: ramp(2048, 2048))
@program(40)
def concat_pad_slice(x):
    y = jnp.concatenate([x[1024:], x[:1024]], axis=0)
    return jnp.pad(y, ((1, 1), (2, 2)))[1:-1, 2:-2]


@starts(lambda: ramp(2 * MEGA))
@program(1)
def sort(x):
    return jnp.sort(x)


@starts(lambda: ramp(2 * MEGA))
@program(1)
def argsort(x):
    return x[jnp.argsort(x)]


@starts(lambda: ramp(512, 8192))
@program(6)
def top_k(x):
    values, indices = lax.top_k(x, 64)
    return x.at[:, :64].add(values * 0.01 + indices * 1e-6) % 1.0


@starts(lambda: ramp(1024, 1024, scale=0.05))
@program(8)
def dot(x):
    return x @ x * 0.9


@starts(lambda: ramp(1024, 1024, scale=0.05, dtype=jnp.bfloat16))
@program(8)
def dot_bf16(x):
    return (x @ x * 0.9).astype(jnp.bfloat16)


@starts(lambda: ramp(8, 64, 64, 32, scale=0.1))
@program(30)
def convolution(x):
    kernel = ramp(3, 3, 32, 32, scale=0.05)
    return lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


@starts(lambda: ramp(2048, 2048))
@program(10)
def transpose(x):
    return x.T * 0.99


@starts(lambda: ramp(8, 256, 256, scale=0.3))
@program(4)
def transformer_layer(x):
    w = ramp(256, 768, scale=0.06)
    q, k, v = jnp.split(x @ w, 3, axis=-1)
    heads = lambda t: t.reshape(8, 256, 8, 32).transpose(0, 2, 1, 3)
    scores = heads(q) @ heads(k).transpose(0, 1, 3, 2) * 0.17
    mixed = (jax.nn.softmax(scores, -1) @ heads(v)).transpose(0, 2, 1, 3).reshape(8, 256, 256)
    hidden = jax.nn.gelu((x + mixed) @ ramp(256, 1024, scale=0.06))
    return x + mixed + hidden @ ramp(1024, 256, scale=0.03)


@starts(lambda: ramp(8, 256, 256, scale=0.3))
@program(1)
def transformer_gradient(x):
    return x - 0.1 * jax.grad(lambda y: (transformer_layer(y) ** 2).mean())(x)


@starts(lambda: (jnp.float32(0.5), jnp.int32(3)))
@program(100_000)
def scalar_loop(state):
    x, n = state
    return x * 0.999 + 0.1, n + 1


@starts(lambda: ramp(2, 8, 512, 64, scale=0.5))
@program(14)
def masked_attention(x):
    scores = jnp.einsum("bhqd,bhkd->bhqk", x, x) * 0.125
    mask = jnp.tril(jnp.ones((512, 512), bool))
    weights = jax.nn.softmax(jnp.where(mask, scores, -1e9), axis=-1)
    return jnp.einsum("bhqk,bhkd->bhqd", weights, x)


@starts(lambda: ramp(8, 512, 8, 64))
@program(10)
def rotary_embedding(x):
    angles = jnp.arange(512)[:, None] * 10000 ** (-jnp.arange(32) / 32)
    cos, sin = jnp.cos(angles)[None, :, None], jnp.sin(angles)[None, :, None]
    a, b = jnp.split(x, 2, axis=-1)
    return jnp.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1)


@starts(lambda: [(ramp(128 + i, 128), ramp(128 + i, 128) * 0, ramp(128 + i, 128) * 0) for i in range(100)])
@program(50)
def adam(state):
    new = []
    for w, m, v in state:
        g = w * 0.1 + 0.01
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g * g
        new.append((w - 1e-3 * (m / 0.1) / (jnp.sqrt(v / 0.001) + 1e-8), m, v))
    return new


@starts(lambda: ramp(4096, 512))
@program(40)
def layer_norm_gradient(x):
    return x - 0.001 * jax.grad(lambda y: (layer_norm(y) ** 3).sum())(x)


@starts(lambda: ramp(1024, 4096))
@program(15)
def cross_entropy(x):
    labels = jnp.arange(1024) * 37 % 4096

    def loss(logits):
        return -(jax.nn.one_hot(labels, 4096) * jax.nn.log_softmax(logits)).sum()

    return x - 0.1 * jax.grad(loss)(x)


@starts(lambda: ramp(8, 32, 32, 64, scale=0.2))
@program(40)
def convolution_bias_relu(x):
    y = lax.conv_general_dilated(x, ramp(3, 3, 64, 64, scale=0.05), (1, 1), "SAME",
                                 dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return jax.nn.relu(y + ramp(64)) * 0.5 + x * 0.5


@starts(lambda: ramp(32, 56, 56, 32))
@program(100)
def batch_norm(x):
    mean = x.mean((0, 1, 2))
    variance = (x * x).mean((0, 1, 2)) - mean * mean
    return (x - mean) * lax.rsqrt(variance + 1e-5) * 0.9 + ramp(32)


@starts(lambda: ramp(4096, 256, scale=0.5))
@program(30)
def expert_dispatch(x):
    gates = jax.nn.softmax(x @ ramp(256, 8), axis=-1)
    expert = gates.argmax(-1)
    position = jnp.cumsum(jax.nn.one_hot(expert, 8, dtype=jnp.int32), axis=0)
    place = jnp.take_along_axis(position, expert[:, None], axis=1)[:, 0] - 1
    buffers = jnp.zeros((8, 640, 256)).at[expert, place].set(x, mode="drop")
    done = jax.nn.relu(jnp.einsum("ecd,edh->ech", buffers, ramp(8, 256, 256, scale=0.06)))
    return x * 0.5 + done[expert, jnp.minimum(place, 639)] * gates.max(-1)[:, None]


@starts(lambda: ramp(MEGA) + 1j * ramp(MEGA)[::-1])
@program(30)
def complex_arithmetic(z):
    return z * z.conj() * 0.3 + jnp.exp(1j * z.real) * 0.2 - z * (0.1 + 0.2j)


@starts(lambda: ramp(2048, 1024))
@program(160)
def int8_quantization(x):
    scale = jnp.abs(x).max(-1, keepdims=True) / 127
    q = jnp.clip(jnp.round(x / scale), -127, 127).astype(jnp.int8)
    return q.astype(jnp.float32) * scale * 0.99 + 1e-3


@starts(lambda: ramp(65536, 32))
@program(120)
def segment_sums(x):
    segments = jnp.arange(65536) // 16
    sums = jax.ops.segment_sum(x, segments, num_segments=4096)
    return x * 0.9 + sums[segments] * 0.01


@starts(lambda: ramp(64, 128))
@program(5)
def gru_scan(h):
    w, u = ramp(128, 384, scale=0.1), ramp(128, 384, scale=0.1)

    def step(h, x):
        a, b = x @ w, h @ u
        r = jax.nn.sigmoid(a[:, :128] + b[:, :128])
        z = jax.nn.sigmoid(a[:, 128:256] + b[:, 128:256])
        n = jnp.tanh(a[:, 256:] + r * b[:, 256:])
        return (1 - z) * n + z * h, None

    return lax.scan(step, h, ramp(256, 64, 128))[0]


@starts(lambda: (jnp.zeros((16, 8)), jnp.zeros((16, 8, 32), jnp.int32)))
@program(160)
def beam_search(state):
    scores, tokens = state
    logits = jnp.sin(tokens[:, :, -1:] * 0.37 + jnp.arange(1000) * 0.11)
    joint = (scores[:, :, None] + jax.nn.log_softmax(logits)).reshape(16, 8000)
    scores, picks = lax.top_k(joint, 8)
    tokens = jnp.take_along_axis(tokens, (picks // 1000)[:, :, None], axis=1)
    return scores, jnp.concatenate([tokens[:, :, 1:], (picks % 1000)[:, :, None]], axis=2)


@starts(lambda: ramp(256, 4096))
@program(20)
def fft_convolution(x):
    kernel = jnp.fft.rfft(jnp.zeros(4096).at[:3].set(jnp.array([0.5, 0.3, 0.15])))
    return jnp.fft.irfft(jnp.fft.rfft(x) * kernel, 4096) + 0.01


@starts(lambda: (ramp(MEGA), jax.random.key_data(jax.random.key(1))))
@program(20)
def dropout(state):
    x, key = state
    keep = jax.random.bernoulli(jax.random.wrap_key_data(key), 0.9, x.shape)
    return jnp.where(keep, x / 0.9, 0.0), key + 1


@starts(lambda: ramp(8192, 512, dtype=jnp.bfloat16))
@program(40)
def softmax_bf16(x):
    return (jax.nn.softmax(x, axis=-1) * 100 - 0.1).astype(jnp.bfloat16)


@starts(lambda: ramp(2048, 1024))
@program(40)
def rms_norm_swiglu(x):
    y = x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6)
    return jax.nn.silu(y[:, :512]).repeat(2, axis=1) * y + x * 0.5


@starts(lambda: (jnp.arange(MEGA, dtype=jnp.int32) * 40503) % 1000)
@program(210)
def integer_hash(x):
    y = (x ^ (x >> 4)) * 73244475
    return jnp.where(y % 3 == 0, y & 0xFFFF, (y >> 7) ^ x)


@starts(lambda: ramp(32, 112, 112, 16))
@program(6)
def max_pool(x):
    y = lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
    return x * 0.9 + y.repeat(2, axis=1).repeat(2, axis=2) * 0.01


@starts(lambda: ramp(512, 2048))
@program(10)
def arg_reductions(x):
    best, worst = x.argmax(-1), x.argmin(-1)
    return x * 0.99 + (best - worst)[:, None] * 1e-6


@starts(lambda: ramp(1024, 1024))
@program(230)
def stencil(x):
    padded = jnp.pad(x, 1)
    around = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
    return x * 0.5 + around * 0.125
