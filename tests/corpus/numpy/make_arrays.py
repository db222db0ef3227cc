#!/usr/bin/env python3
"""Writes the arrays of this folder; needs numpy and ml_dtypes (made with 2.4.6 and 0.6.0).

    tests/corpus/numpy/make_arrays.py

types.npz        for every element type TYPE of HLO that numpy.savez can store, TYPE: the values of `VALUES`
                 that it holds exactly, cast to it
compressed.npz   arr_0: f32[64,64], arr_1: s64[]; by savez_compressed
fortran.npy      f32[2,3] 0 to 5 in column-major order
bf16.npy         bf16[2,2], 1 1.5 / -2 0.0078125
e5m2.npy         f8e5m2[3], which ml_dtypes calls '<f1'
"""
import os

import ml_dtypes
import numpy as np

VALUES = [0, 1, 2, 0.5, -1, 1.5]
NUMPY = {'pred': '?', 's8': 'i1', 's16': 'i2', 's32': 'i4', 's64': 'i8', 'u8': 'u1', 'u16': 'u2', 'u32': 'u4',
         'u64': 'u8', 'f16': 'f2', 'f32': 'f4', 'f64': 'f8', 'c64': 'c8', 'c128': 'c16'}
NAMED = {'bf16': 'bfloat16', 's2': 'int2', 's4': 'int4', 'u2': 'uint2', 'u4': 'uint4', 's1': 'int1', 'u1': 'uint1'}
FLOATS = ['f8e5m2', 'f8e4m3', 'f8e4m3fn', 'f8e4m3b11fnuz', 'f8e3m4', 'f8e5m2fnuz', 'f8e4m3fnuz', 'f8e8m0fnu',
          'f6e3m2fn', 'f6e2m3fn', 'f4e2m1fn']


def types():
    found = dict(NUMPY)
    found.update({name: getattr(ml_dtypes, np_name) for name, np_name in NAMED.items()})
    found.update({name: getattr(ml_dtypes, f'float{name[1]}_{name[2:]}') for name in FLOATS})
    return found


def held(dtype):
    values = np.array(VALUES)
    with np.errstate(all='ignore'):
        same = values.astype(dtype).astype(np.complex128) == values
    return values[same].astype(dtype)


def main():
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    np.savez('types.npz', **{name: held(dtype) for name, dtype in types().items()})
    np.savez_compressed('compressed.npz', np.arange(4096, dtype=np.float32).reshape(64, 64) % 7, np.int64(-5))
    np.save('fortran.npy', np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3)))
    np.save('bf16.npy', np.array([[1, 1.5], [-2, 2**-7]], dtype=ml_dtypes.bfloat16))
    np.save('e5m2.npy', np.array([1, -0.5, 57344], dtype=ml_dtypes.float8_e5m2))


if __name__ == '__main__':
    main()
