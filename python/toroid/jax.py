"""Explains functions of JAX: lowered without devices, answered in the user's lines, argument paths and mesh axes."""

from __future__ import annotations

import contextlib
import functools
import inspect
from typing import Any, Callable, Mapping, Optional, TypeVar

from toroid._commands import ToroidError
from toroid._load import require_platform
from toroid._module import Module, load
from toroid._program import Partitioned
from toroid._results import Explanation
from toroid._shardings import mesh_axes

F = TypeVar("F", bound=Callable[..., Any])


@functools.cache
def _leave_out_of_stacks() -> None:
    """Source lines are those of the caller, not of this file."""
    try:
        from jax.extend.source_info_util import register_exclusion  # pylint: disable=import-outside-toplevel
    except ImportError:
        return
    register_exclusion(__file__)


def _afresh(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that jax has not traced yet: in a notebook, what f calls may have been written anew."""

    @functools.wraps(f)
    def same(*args: Any, **kwargs: Any) -> Any:
        return f(*args, **kwargs)

    return same


def _options_of_jit(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Those that `jax.jit` takes, and the others, which are arguments of the step."""
    import jax  # pylint: disable=import-outside-toplevel

    known = inspect.signature(jax.jit).parameters
    own = {name: value for name, value in options.items() if name in known}
    return own, {name: value for name, value in options.items() if name not in known}


def _is_traced(x: Any) -> bool:
    """Whether jax traces a leaf: arrays, their shapes, numbers; not functions and texts."""
    return hasattr(x, "dtype") or isinstance(x, (bool, int, float, complex))


def _without_constants(f: Callable[..., Any], arguments: Any) -> tuple[Callable[..., Any], Any]:
    """A function of the leaves that jax traces alone, and these: others, such as the functions in a module of equinox, are its constants."""
    import jax  # pylint: disable=import-outside-toplevel

    leaves, tree = jax.tree.flatten(arguments)
    if all(map(_is_traced, leaves)):
        return f, arguments

    def traced(x: Any) -> Any:
        return jax.tree.map(lambda leaf: leaf if _is_traced(leaf) else None, x)

    @functools.wraps(f)
    def same(*args: Any, **kwargs: Any) -> Any:
        given = iter(jax.tree.leaves((args, kwargs)))
        args, kwargs = jax.tree.unflatten(tree, [next(given) if _is_traced(leaf) else leaf for leaf in leaves])
        return traced(f(*args, **kwargs))

    return same, traced(arguments)


def lower(
    f: Callable[..., Any],
    *args: Any,
    mesh: Any = None,
    in_shardings: Any = None,
    out_shardings: Any = None,
    platform: Optional[str] = "tpu",
    **options: Any,
) -> Module:
    """The program of f for these arguments, on a mesh that need not exist.

    Args:
      f: a function, or what `jax.jit` made of one.
      *args: arrays or `jax.ShapeDtypeStruct`s, with or without shardings, in pytrees; what is neither array nor number in them, such
        as the functions in a module of equinox, is a constant of the program.
      mesh: an `AbstractMesh`, a mesh, or a mapping of axis names to sizes; bare `PartitionSpec`s inside f and in the shardings mean
        its axes.
      in_shardings: as for `jax.jit`; specs are put on the mesh.
      out_shardings: likewise.
      platform: what f is lowered for.
      **options: further options of `jax.jit`, such as `donate_argnums`; others are keyword arguments of f.

    Raises:
      ToroidError: if the mesh, the platform or an argument is none. What jax refuses, such as a spec over an axis that the mesh lacks,
        is an error of jax.
    """
    import jax  # pylint: disable=import-outside-toplevel
    import jax.extend.backend  # pylint: disable=import-outside-toplevel,unused-import
    from jax.sharding import AbstractMesh, NamedSharding, PartitionSpec  # pylint: disable=import-outside-toplevel

    require_platform(platform)
    _leave_out_of_stacks()
    if mesh is not None and not isinstance(mesh, AbstractMesh):
        # Axes of a mesh in explicit mode have other rules for constraints; a step that is jitted with shardings has none of them.
        axes = mesh_axes(mesh) or {}
        mesh = AbstractMesh(tuple(axes.values()), tuple(axes))

    make: Any = NamedSharding
    struct: Any = jax.ShapeDtypeStruct

    def placed(tree: Any) -> Any:
        if mesh is None:
            return tree
        def is_spec(x: Any) -> bool:
            return isinstance(x, PartitionSpec)

        return jax.tree.map(on_mesh, tree, is_leaf=lambda x: is_spec(x) or isinstance(x, NamedSharding))

    def on_mesh(x: Any) -> Any:
        """A spec, or a sharding of a mesh of other sizes, on the mesh that was asked for."""
        if isinstance(x, PartitionSpec):
            return make(mesh, x)
        if not isinstance(x, NamedSharding) or dict(x.mesh.shape) == dict(mesh.shape):
            return x
        missing = [axis for axis in x.mesh.shape if axis not in mesh.shape]
        if missing:
            raise ToroidError(f"mesh: a sharding is over axis {missing[0]!r}, and the mesh has {', '.join(map(repr, mesh.shape))}")
        return make(mesh, x.spec)

    def shape_of(x: Any) -> Any:
        if isinstance(x, jax.core.Tracer):
            raise ToroidError("an argument is a tracer: call toroid.jax.lower outside jit, with arrays or ShapeDtypeStructs")
        if not isinstance(x, jax.Array):
            return x
        # Where an array happens to lie says nothing of the mesh, unless it was put on one.
        placed_on: Any = x.sharding
        named = isinstance(placed_on, NamedSharding) and placed_on.mesh.size > 1
        sharding = make(placed_on.mesh.abstract_mesh, placed_on.spec) if named else None
        if sharding is not None and mesh is not None:
            sharding = on_mesh(sharding)
        return struct(x.shape, x.dtype, sharding=sharding, weak_type=x.weak_type)

    jit_options, keywords = _options_of_jit(options)
    arguments = jax.tree.map(shape_of, (args, keywords))
    if not jit_options.keys() & {"static_argnums", "static_argnames"} and not hasattr(f, "trace"):
        f, arguments = _without_constants(f, arguments)
    args, keywords = arguments
    if in_shardings is not None:
        jit_options["in_shardings"] = placed(in_shardings)
    if out_shardings is not None:
        jit_options["out_shardings"] = placed(out_shardings)
    jitted = jax.jit(_afresh(f), **jit_options) if jit_options or not hasattr(f, "trace") else f
    context: Any = jax.sharding.use_abstract_mesh(mesh) if mesh is not None else contextlib.nullcontext()
    with context:
        traced = jitted.trace(*args, **keywords)
        lowered = traced.lower(lowering_platforms=(platform,)) if platform else traced.lower()
    return load(lowered)


def explain(f: Callable[..., Any], *args: Any, num_partitions: Optional[int] = None, machine: Optional[str] = None, **options: Any) -> Explanation:
    """The collectives of f's step, with what needs them.

    Args:
      f, *args: as for `lower`, and so are `mesh`, `in_shardings`, `out_shardings`, `platform` and options of `jax.jit`.
      num_partitions: the number of devices; None: those of the mesh.
      machine: a slice whose predicted times are added, such as "tpu-v3-256".
    """
    module = lower(f, *args, **options)
    return module.partition(num_partitions, machine=machine).explain(machine=machine)


class CommunicationGrew(AssertionError):
    """A watched function sends more than it may."""


def _require(name: str, partitioned: Partitioned, max_bytes: Optional[int], max_collectives: Optional[int]) -> None:
    explanation = partitioned.explain()
    count = sum(row["count"] for row in explanation.rows)
    if max_bytes is not None and explanation.sent_bytes > max_bytes:
        raise CommunicationGrew(f"{name} sends {explanation.sent_bytes:,} bytes per device, more than {max_bytes:,}\n{explanation!r}")
    if max_collectives is not None and count > max_collectives:
        raise CommunicationGrew(f"{name} has {count:,} collectives, more than {max_collectives:,}\n{explanation!r}")


class watch(contextlib.ContextDecorator):
    """Fails when a step sends more than it may: as a decorator of the step, or around calls of it.

    As a decorator, each new combination of argument shapes is lowered and partitioned before the step runs:

        @toroid.jax.watch(max_bytes=2_000_000, mesh=mesh)
        @jax.jit
        def train_step(params, batch): ...

    As a context manager, the steps are named:

        with toroid.jax.watch(max_bytes=2_000_000, mesh=mesh) as watched:
            watched(train_step, params, batch)

    Args:
      max_bytes: the most that a device may send in one step.
      max_collectives: the most collectives in the program.
      **options: as for `lower`.

    Raises:
      CommunicationGrew: an AssertionError with the table of what the step sends.
    """

    def __init__(self, *, max_bytes: Optional[int] = None, max_collectives: Optional[int] = None, **options: Any):
        for name, limit in (("max_bytes", max_bytes), ("max_collectives", max_collectives)):
            if limit is not None and (isinstance(limit, bool) or not isinstance(limit, (int, float))):
                raise ToroidError(f"{name}: expected a number, got {limit!r}")
        self._max_bytes, self._max_collectives, self._options = max_bytes, max_collectives, options

    def __enter__(self) -> Callable[..., Partitioned]:
        return self.check

    def __exit__(self, *unused: Any) -> None:
        return None

    def check(self, f: Callable[..., Any], *args: Any, **kwargs: Any) -> Partitioned:
        """Partitions f for these arguments; raises CommunicationGrew if it sends too much."""
        called = functools.wraps(f)(functools.partial(f, **kwargs)) if kwargs else f
        partitioned = lower(called, *args, **self._options).partition()
        _require(getattr(f, "__name__", "the step"), partitioned, self._max_bytes, self._max_collectives)
        return partitioned

    def __call__(self, f: F) -> F:
        import jax  # pylint: disable=import-outside-toplevel

        seen: set[Any] = set()

        @functools.wraps(f)
        def watched(*args: Any, **kwargs: Any) -> Any:
            leaves, tree = jax.tree.flatten((args, kwargs))
            key = (tree, tuple((getattr(x, "shape", ()), str(getattr(x, "dtype", type(x))), str(getattr(x, "sharding", ""))) for x in leaves))
            if key not in seen:
                self.check(f, *args, **kwargs)
                seen.add(key)
            return f(*args, **kwargs)

        return watched  # type: ignore[return-value]
