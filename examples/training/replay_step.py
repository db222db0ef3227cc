#!/usr/bin/env python3
"""Repeats the first training steps of `moe_transformer --train --dump_step=DIR` by XLA, and compares the losses.

    pip install jax
    replay_step.py DIR

XLA compiles the same module for the CPU and gets the same arguments; each step starts from the state that XLA returned.
Prints a line for each step; exit status 1 if a loss is off by more than 1e-3 of it.
"""
import os
import sys

os.environ.setdefault('JAX_PLATFORMS', 'cpu')
import jax
import numpy as np
from jax._src.interpreters import mlir
from jax._src.lib import xla_client
from jax._src.lib.mlir import ir
from jax._src.lib.mlir.dialects import func
from jax.extend import core


def load_program(path):
    """The module as a function from its parameters, in order, to the elements of its result."""
    with open(path, 'rb') as file:
        text = xla_client._xla.mlir.hlo_to_stablehlo(module_of(file.read()))
    with mlir.make_ir_context():
        function = ir.SymbolTable(ir.Module.parse(text).operation)['main']
        results = [ir.RankedTensorType(t) for t in function.type.results]
        types = [(tuple(t.shape), {'i32': 'int32', 'ui32': 'uint32'}.get(str(t.element_type), 'float32')) for t in results]
    primitive = core.Primitive('training_step')
    primitive.multiple_results = True
    primitive.def_abstract_eval(lambda *_: [jax.core.ShapedArray(dims, np.dtype(name)) for dims, name in types])

    def lower(context, *arguments):
        module = ir.Module.parse(text)
        name = mlir.merge_mlir_modules(context.module_context.module, 'training_step', module,
                                       dst_symtab=context.module_context.symbol_table)
        types_here = ir.SymbolTable(ir.Module.parse(text).operation)['main'].type.results
        call = func.CallOp(types_here, ir.FlatSymbolRefAttr.get(name), list(arguments))
        return call.results

    mlir.register_lowering(primitive, lower)
    return jax.jit(lambda *arguments: primitive.bind(*arguments))


def module_of(data):
    """The HloModuleProto that is field 1 of an HloProto."""
    size, shift, at = 0, 0, 1
    while True:
        size |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return data[at:at + size]


def arrays(path):
    with np.load(path) as archive:
        return [archive[name] for name in archive.files]


def main(folder):
    step = load_program(f'{folder}/step.hlo.pb')
    state = arrays(f'{folder}/state.npz')
    with open(f'{folder}/losses.tsv') as file:
        losses = [float(line.split('\t')[1]) for line in list(file)[1:]]
    worst = 0
    print('step           loss         of XLA   relative difference')
    for k, loss in enumerate(losses):
        results = step(*state, *arrays(f'{folder}/inputs_{k}.npz'))
        state, xla_loss = results[:len(state)], float(results[len(state)])
        difference = abs(xla_loss - loss) / abs(loss)
        worst = max(worst, difference)
        print(f'{k + 1:4d} {loss:14.8f} {xla_loss:14.8f} {difference:21.1e}')
    return 1 if not losses or not worst <= 1e-3 else 0


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
