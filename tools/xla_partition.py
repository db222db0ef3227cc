#!/usr/bin/env python3
"""Has XLA's partitioner, that of the installed jaxlib, partition the module of a dump, and compares Toroid's program with it.

    tools/xla_partition.py DUMP [--num_partitions=N] [-o XLA.hlo.pb] [--stage=spmd|optimized] [FLAG OF hlo-diff ...]

DUMP is a module before partitioning, in any format that the commands read. Toroid partitions it, XLA compiles it for as many
CPU devices, and hlo-diff says where the two programs differ: A is Toroid's, B is XLA's. XLA is stopped when it has partitioned;
with --stage=optimized it goes on, and B is what it runs in the end. -o keeps XLA's program.

Needs jax (any Python: PYTHON tools/xla_partition.py ...), no accelerator, and the built commands in $TOROID_BIN, on the PATH or
in bazel-bin. XLA compiles for CPU devices: memory spaces, kernels for TPU (which are opaque calls to both) and what a TPU's compiler
does after partitioning are not compared. Exit status: that of hlo-diff: 0 the same, 1 they differ, 2 an error.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).absolute().parents[1]
STAGES = {'spmd': '*after_spmd-partitioning*.hlo.pb', 'optimized': '*after_optimizations.hlo.pb'}
SECONDS = 1800  # XLA is stopped after that.


def compile_module(path, devices):
    """Compiles the HloModuleProto of a file for CPU devices; in a process of its own, whose XLA_FLAGS make XLA dump what it does."""
    import jax
    import numpy as np
    from jax._src.interpreters import mlir
    from jax._src.lib import xla_client
    from jaxlib.mlir import ir
    module = Path(path).read_bytes()
    is_shardy = b'xla.sdy' in module
    options = xla_client.CompileOptions()
    build = options.executable_build_options
    for some in (options, build):
        some.num_replicas, some.num_partitions = 1, devices
    build.use_spmd_partitioning = True
    build.use_shardy_partitioner = is_shardy
    build.allow_spmd_sharding_propagation_to_output = [True]  # Results without a sharding stay where propagation leaves them.
    assignment = xla_client.DeviceAssignment.create(np.arange(devices).reshape(1, devices))
    options.device_assignment = build.device_assignment = assignment
    used = jax.devices()[:devices]
    with mlir.make_ir_context():
        stablehlo = ir.Module.parse(xla_client._xla.mlir.hlo_to_stablehlo(module))
        if is_shardy:
            leave_out_gspmd(stablehlo, ir)
        used[0].client.compile_and_load(stablehlo, xla_client.DeviceList(tuple(used)), options)


def leave_out_gspmd(module, ir):
    """Removes the ordinary shardings beside those of Shardy: XLA takes a module that has any for one of GSPMD."""
    key = 'mhlo.sharding'

    def visit(op):
        attributes = op.operation.attributes
        if key in attributes:
            del attributes[key]
        for lists in ('arg_attrs', 'res_attrs'):
            if lists in attributes:
                kept = [ir.DictAttr.get({a.name: a.attr for a in one if a.name != key}) for one in attributes[lists]]
                attributes[lists] = ir.ArrayAttr.get(kept)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)


def dumped(folder, stage):
    """The file of a stage; None if it is not there yet."""
    files = sorted(folder.glob(STAGES[stage]))
    return files[-1] if files else None


def is_whole(path):
    """Whether the file holds a module: XLA may still be writing."""
    import toroid
    try:
        toroid.load(path)
    except toroid.ToroidError:
        return False
    return True


def run_xla(proto, devices, stage, folder):
    """The file with what XLA makes of a module."""
    module, dumps, log = folder / 'module.pb', folder / 'dumps', folder / 'log'
    module.write_bytes(proto)
    # The compiler of LLVM does nothing for the programs that are compared.
    flags = (f'--xla_force_host_platform_device_count={devices} --xla_dump_to={dumps} --xla_dump_hlo_as_proto '
             '--xla_backend_optimization_level=0 --xla_dump_hlo_pass_re=.*spmd-partitioning.*')
    environment = dict(os.environ, XLA_FLAGS=flags, JAX_PLATFORMS='cpu', TF_CPP_MIN_LOG_LEVEL='3')
    with open(log, 'w') as out:
        command = [sys.executable, __file__, '--compile', module, str(devices)]
        process = subprocess.Popen(command, env=environment, stdout=out, stderr=out)
    try:
        end = time.monotonic() + SECONDS
        while process.poll() is None and time.monotonic() < end:
            time.sleep(0.1)
            if stage == 'spmd' and dumped(dumps, stage) and is_whole(dumped(dumps, stage)):
                break
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
    found = dumped(dumps, stage)
    if found is None or not is_whole(found):
        lines = [line for line in log.read_text().splitlines() if line.strip()] or ['it wrote nothing']
        sys.stderr.write(f'XLA did not get to {stage}: {lines[-1][:400]}\n')
        sys.exit(2)
    return found


def main():
    if sys.argv[1:2] == ['--compile']:
        return compile_module(sys.argv[2], int(sys.argv[3]))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('dump')
    parser.add_argument('--num_partitions', type=int, help="number of devices; default: the module's")
    parser.add_argument('-o', dest='output', help="a file for XLA's program")
    parser.add_argument('--stage', choices=STAGES, default='spmd')
    arguments, diff_flags = parser.parse_known_args()
    built = [str(ROOT / 'bazel-bin' / part) for part in ('hlo', 'partitioner', 'explain', 'runtime', 'simulator')]
    os.environ['PATH'] = os.pathsep.join([os.environ.get('PATH', ''), *built])
    sys.path.insert(0, str(ROOT / 'python'))
    try:
        import jax  # noqa: F401
        import toroid
        from toroid._commands import command_path
    except ImportError as error:
        sys.stderr.write(f'{error}; run this with a Python that has jax\n')
        return 2
    try:
        program = toroid.load(arguments.dump)
        ours = program.partition(arguments.num_partitions)
        if program.describe()['container'] == 'HloSnapshot':
            program = toroid.load(program.text())  # Without the arguments.
        with tempfile.TemporaryDirectory(prefix='xla_partition-') as folder:
            theirs = run_xla(program.serialize(), ours.num_partitions, arguments.stage, Path(folder))
            if arguments.output:
                Path(arguments.output).write_bytes(theirs.read_bytes())
            command = [command_path('hlo-diff'), ours.path, theirs, '--label', 'Toroid', '--label', 'XLA', *diff_flags]
            return subprocess.run(command, check=False).returncode
    except toroid.ToroidError as error:
        sys.stderr.write(f'{error}\n')
        return 2


if __name__ == '__main__':
    sys.exit(main())
