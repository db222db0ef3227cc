"""Partitions, explains, checks and simulates programs of JAX, TensorFlow and PyTorch/XLA without their devices.

    import toroid
    step = toroid.load(jax.jit(train_step).lower(params, batch))
    step.partition().explain()          # which line needs which collective, and how many bytes
    step.check()                        # runs partitioned and unpartitioned, compares
    toroid.simulate(step, 'tpu-v3-256') # time and memory on a slice of a pod
    toroid.search(step, mesh={'data': 16, 'model': 16})  # which shardings are best
    toroid.diff(step.partition(), other.partition())  # where two programs differ
"""

from toroid._commands import ToroidError, ToroidWarning
from toroid._diff import Diff, diff
from toroid._module import Module, load, partition, search, simulate
from toroid._program import Partitioned
from toroid._results import Check, Explanation, FoundShardings, Result, Simulation

__version__ = "0.1.0"  # hlo/base/version.h; a test compares them.

__all__ = [
    "Check",
    "Diff",
    "Explanation",
    "FoundShardings",
    "Module",
    "Partitioned",
    "Result",
    "Simulation",
    "ToroidError",
    "ToroidWarning",
    "diff",
    "load",
    "partition",
    "search",
    "simulate",
    "__version__",
]
