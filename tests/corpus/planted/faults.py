"""Ten training steps with one bad annotation each, in both dialects of JAX 0.10.2:

  python3 -c "exec(compile(open('faults.py').read(), 'planted/faults.py', 'exec'))"

writes NAME.DIALECT.hlo.pb.gz. Each program is built with the fault (`bad`) or without.
"""
import gzip, jax, jax.numpy as jnp
from jax.sharding import AbstractMesh, NamedSharding, PartitionSpec as P
mesh = AbstractMesh((8, 4), ('data', 'model'))
S = lambda *a: NamedSharding(mesh, P(*a))
def C(x, *a): return jax.lax.with_sharding_constraint(x, S(*a))
bf, f32 = jnp.bfloat16, jnp.float32
def A(shape, *a, dt=f32): return jax.ShapeDtypeStruct(shape, dt, sharding=S(*a))
def ln(x): return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)
D, F, H, K = 1024, 4096, 16, 64
def attn_args(): return {'q': A((D, H, K), None, 'model'), 'k': A((D, H, K), None, 'model'), 'v': A((D, H, K), None, 'model'), 'o': A((H, K, D), 'model')}
def mlp_args(up=(None, 'model'), down=('model', None)): return {'up': A((D, F), *up), 'down': A((F, D), *down)}
def attention(p, x, m=None, heads=None):
    m = x if m is None else m
    q = jnp.einsum('bsd,dhk->bshk', x, p['q'])
    if heads: q = C(q, *heads)
    k = jnp.einsum('btd,dhk->bthk', m, p['k'])
    v = jnp.einsum('btd,dhk->bthk', m, p['v'])
    w = jax.nn.softmax(jnp.einsum('bshk,bthk->bhst', q, k), -1)
    return jnp.einsum('bshk,hkd->bsd', jnp.einsum('bhst,bthk->bshk', w, v), p['o'])
def mlp(p, x, hidden=None):
    u = jax.nn.gelu(x @ p['up'])
    if hidden: u = C(u, *hidden)
    return u @ p['down']
def sgd(loss):
    def step(params, *batch):
        l, g = jax.value_and_grad(loss)(params, *batch)
        return jax.tree.map(lambda a, b: a - 1e-3 * b, params, g), l
    return step

def moe(bad, where):
    E, cap = 8, 512
    def layer(p, x):
        b, s, d = x.shape
        gates = jax.nn.softmax(x @ p['router'], -1)
        idx = jnp.argmax(gates, -1)
        pos = jnp.cumsum(jax.nn.one_hot(idx, E, dtype=jnp.int32), 1) - 1
        disp = jax.nn.one_hot(idx, E)[..., None] * jax.nn.one_hot((pos * jax.nn.one_hot(idx, E, dtype=jnp.int32)).sum(-1), cap)[..., None, :]
        e = jnp.einsum('bsec,bsd->ebcd', disp, x)
        e = C(e, *((None, 'data', None, None) if not (bad and where == 'dispatch') else (None, None, None, 'data')))
        h = jax.nn.gelu(jnp.einsum('ebcd,edf->ebcf', e, p['wi']))
        o = jnp.einsum('ebcf,efd->ebcd', h, p['wo'])
        return x + jnp.einsum('ebcd,bsec->bsd', o, disp)
    def loss(ps, x, y):
        for p in ps: x = layer(p, ln(x))
        return jnp.mean((x - y) ** 2)
    wi = (None, None, 'model') if not (bad and where == 'weight') else (None, 'model', None)
    p = lambda: {'router': A((D, E)), 'wi': A((E, D, F), *wi), 'wo': A((E, F, D), None, 'model')}
    x = A((64, 1024, D), 'data')
    return sgd(loss), ([p(), p()], x, x)

def t5(bad, where):
    def loss(p, src, tgt, y):
        e = src
        for l in p['enc']:
            e = e + attention(l['attn'], ln(e))
            e = e + mlp(l['mlp'], ln(e))
        if bad and where == 'memory': e = C(e, None, None, None)
        d = tgt
        for l in p['dec']:
            d = d + attention(l['attn'], ln(d))
            d = d + attention(l['cross'], ln(d), e)
            d = d + mlp(l['mlp'], ln(d), hidden=(None, None, 'model') if bad and where == 'hidden' else None)
        return jnp.mean((d - y) ** 2)
    enc = lambda: {'attn': attn_args(), 'mlp': mlp_args()}
    dec = lambda: {'attn': attn_args(), 'cross': attn_args(), 'mlp': mlp_args()}
    x = A((64, 512, D), 'data')
    return sgd(loss), ({'enc': [enc(), enc()], 'dec': [dec(), dec()]}, x, x, x)

def vit(bad, where):
    def loss(p, img, label):
        b = img.shape[0]
        t = img.reshape(b, 16, 16, 16, 16, 3).transpose(0, 1, 3, 2, 4, 5).reshape(b, 256, 768) @ p['patch']
        if where == 'tokens': t = C(t, *((None, 'data', None) if bad else ('data', None, None)))
        for l in p['blocks']:
            t = t + attention(l['attn'], ln(t))
            t = t + mlp(l['mlp'], ln(t))
            if where == 'resid': t = C(t, *((None, None, None) if bad else ('data', None, None)))
        logits = t.mean(1) @ p['head']
        if where == 'pooled': logits = C(logits, *((None, 'data') if bad else ('data', 'model')))
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), label[:, None], 1))
    p = {'patch': A((768, D)), 'blocks': [{'attn': attn_args(), 'mlp': mlp_args()} for _ in range(2)],
         'head': A((D, 32768), None, 'model')}
    return sgd(loss), (p, A((512, 256, 256, 3), 'data'), jax.ShapeDtypeStruct((512,), jnp.int32, sharding=S('data')))

def scanned(bad, where):
    def body(x, l):
        x = x + attention(l['attn'], ln(x))
        if where == 'resid': x = C(x, *((None, None, 'model') if bad else ('data', None, None)))
        x = x + mlp(l['mlp'], ln(x))
        return x, None
    def loss(p, x, y): return jnp.mean((jax.lax.scan(body, x, p)[0] - y) ** 2)
    st = lambda t: jax.tree.map(lambda a: jax.ShapeDtypeStruct((6,) + a.shape, a.dtype, sharding=S(None, *a.sharding.spec)), t)
    up = (None, 'model') if not (bad and where == 'weight') else (None, 'data')
    down=('model', None)
    p = st({'attn': attn_args(), 'mlp': mlp_args(up=up)})
    x = A((32, 2048, D), 'data') if where == 'resid' else A((16, 256, D), 'data')
    return sgd(loss), (p, x, x)

def remat(bad, where):
    def layer(p, x):
        x = x + attention(p['attn'], ln(x), heads=None if where != 'heads' else ('data', None, None, 'model') if bad else ('data', None, 'model', None))
        return x + mlp(p['mlp'], ln(x))
    def loss(ps, x, y):
        for p in ps: x = jax.checkpoint(layer)(p, x)
        return jnp.mean((x - y) ** 2)
    def step(ps, mu, x, y):
        l, g = jax.value_and_grad(loss)(ps, x, y)
        mu = jax.tree.map(lambda m, b: .9 * m + .1 * b, mu, g)
        return jax.tree.map(lambda a, b: a - 1e-3 * b, ps, mu), mu, l
    ps = [{'attn': attn_args(), 'mlp': mlp_args()} for _ in range(3)]
    mu = ps
    if bad and where == 'moment': mu = [{'attn': l['attn'], 'mlp': mlp_args(up=('model', None), down=(None, 'model'))} for l in ps]
    x = A((16, 256, D), 'data') if where == 'moment' else A((64, 2048, D), 'data')
    return step, (ps, mu, x, x)

FAULTS = {'moe_dispatch': (moe, 'dispatch'), 'moe_weight': (moe, 'weight'), 't5_memory': (t5, 'memory'), 't5_hidden': (t5, 'hidden'),
          'vit_tokens': (vit, 'tokens'), 'vit_resid': (vit, 'resid'), 'scan_resid': (scanned, 'resid'), 'scan_weight': (scanned, 'weight'),
          'remat_heads': (remat, 'heads'), 'remat_moment': (remat, 'moment')}

def lowered(f, args, out_shardings):
    kw = {} if out_shardings is None else {'out_shardings': out_shardings}
    return jax.jit(f, **kw).trace(*args).lower(lowering_platforms=('tpu',)).compiler_ir('hlo').as_serialized_hlo_module_proto()

for shardy in (True, False):
    jax.config.update('jax_use_shardy_partitioner', shardy)
    for name, (make, where) in FAULTS.items():
        f, args = make(True, where)
        # The new weights and moments are returned as the old ones are held.
        out = None if name != 'remat_moment' else (*(jax.tree.map(lambda a: a.sharding, t) for t in args[:2]), S())
        with open(f'{name}.{"shardy" if shardy else "gspmd"}.hlo.pb.gz', 'wb') as file:
            file.write(gzip.compress(lowered(f, args, out), 9, mtime=0))
