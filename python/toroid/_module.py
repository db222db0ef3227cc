"""Programs of a whole mesh: loaded, partitioned, explained, compared, predicted."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np

from toroid import _arrays, _load, _render
from toroid._commands import ToroidError, Word, run, run_json
from toroid._files import Files
from toroid._program import Partitioned, Program, Shardings
from toroid._results import Check, Explanation, FoundShardings, Simulation, Text
from toroid._shardings import mesh_axes, names_of, sharding_of
from toroid._specs import in_specs
from toroid._spelling import in_authors_names, in_python, with_places


class Module(Program):
    """A program of the whole mesh, with or without shardings."""

    _result_names: Sequence[str] = ()  # Where each result is in the tree that a function of jax returns.

    def _run(self, words: Sequence[Word], progress: Optional[bool]) -> str:
        """Runs hlo-partition; in its errors parameters have the author's names."""
        try:
            return run("hlo-partition", words, progress=progress)
        except ToroidError as error:
            names = {parameter["name"]: parameter.get("author_name", "") for parameter in self.describe()["parameter_list"]}
            raise ToroidError(in_authors_names(str(error), names)) from None

    def partition(
        self,
        num_partitions: Optional[int] = None,
        *,
        shardings: Optional[Shardings] = None,
        mesh: Any = None,
        machine: Optional[str] = None,
        strategies: Union[str, Sequence[str], None] = None,
        progress: Optional[bool] = None,
    ) -> Partitioned:
        """Writes the program of one device, as `hlo-partition`.

        Args:
          num_partitions: the number of devices; None: as many as the shardings name.
          shardings: for parameters and other values by name (`params['w_up']`, `output{0}`, `parameter(3)`, a glob on op names) a
            `PartitionSpec`, a tuple of axes, a `NamedSharding` or the text of an HLO sharding.
          mesh: sizes of axes, as a mapping of names to sizes, "data=2,model=4" or a jax mesh. They are those that the specs name, and
            take the place of the sizes of the module's own mesh, so that a program lowered for 4 devices is partitioned for 512; axes
            that are not named keep theirs. None: the module's own.
          machine: decide by predicted seconds on this slice, such as "tpu-v3-128", instead of by bytes sent.
          strategies: how to search for better plans; [] decides each op alone.
          progress: whether a line shows the seconds that it takes; None: on a terminal.

        Raises:
          ToroidError: if the program cannot be partitioned so.
        """
        files = Files()
        out = files.folder / "partitioned.hlo.pb"
        words: list[Word] = [self._path, "-o", out, "--stats", files.folder / "statistics.json", "--explain=json", *self._mesh_words(num_partitions, shardings, mesh)]
        if machine is not None:
            words.append(f"--machine={machine}")
        if strategies is not None:
            words.append("--strategies=" + (",".join(names_of(strategies, "strategies")) or "none"))
        explained = json.loads(self._run(words, progress))
        statistics = json.loads((files.folder / "statistics.json").read_text())
        return Partitioned(out, files, self, statistics, explained, self._named_axes(mesh))

    def explain(
        self,
        num_partitions: Optional[int] = None,
        *,
        full: bool = False,
        machine: Optional[str] = None,
        shardings: Optional[Shardings] = None,
        mesh: Any = None,
        progress: Optional[bool] = None,
    ) -> Explanation:
        """The table of `hlo-partition --explain`: of this program, partitioned, or if it is partitioned already, as XLA's are, of it as it is.

        Args:
          num_partitions: as for `partition`; so are `machine`, `shardings`, `mesh` and `progress`.
          full: a row for every collective, instead of one for those that differ by a layer's number.
          machine: a slice, such as "tpu-v3-128", whose predicted times are added, and decide how the program is partitioned.
        """
        words: list[Word] = [self._path, "--explain=" + ("full_json" if full else "json"), *self._mesh_words(num_partitions, shardings, mesh)]
        if machine is not None:
            words.append(f"--machine={machine}")
        data = json.loads(self._run(words, progress))
        return Explanation(data, data.pop("table"), self._named_axes(mesh))

    def why(
        self,
        name: str,
        num_partitions: Optional[int] = None,
        *,
        shardings: Optional[Shardings] = None,
        mesh: Any = None,
        progress: Optional[bool] = None,
    ) -> Text:
        """Why a value is cut as it is: the annotation and the ops that each axis came through, as `hlo-partition --why` prints it.

        Args:
          name: an instruction, a name of an `Explanation`'s rows, `parameter(3)`, `output{0}`, or a glob on these.
          num_partitions: as for `partition`; so are `shardings`, `mesh` and `progress`.

        Raises:
          ToroidError: if no array has the name; the message has the nearest one.
        """
        _require_name(name)
        words: list[Word] = [self._path, f"--why={name}", *self._mesh_words(num_partitions, shardings, mesh)]
        return Text(self._spelled(self._run(words, progress), mesh))

    def what_if(
        self,
        name: str,
        sharding: Any,
        num_partitions: Optional[int] = None,
        *,
        shardings: Optional[Shardings] = None,
        mesh: Any = None,
        progress: Optional[bool] = None,
    ) -> Text:
        """Bytes sent, collectives, flops and memory per device as the program is, beside those with another sharding of one value.

        Args:
          name: a value, as in the `shardings` of `partition`.
          sharding: what it is cut by instead: a `PartitionSpec`, a tuple of axes, a `NamedSharding` or the text of an HLO sharding.
          num_partitions: as for `partition`; so are `shardings`, `mesh` and `progress`.

        Raises:
          ToroidError: if no value has the name, or the sharding does not fit it.
        """
        _require_name(name)
        text = sharding_of(name, sharding, self._ranks().get(name), self._axes(mesh))
        words: list[Word] = [self._path, f"--what_if={self._command_name(name)}={text}"]
        words += self._mesh_words(num_partitions, shardings, mesh)
        return Text(self._spelled(self._run(words, progress), mesh))

    def advise(
        self,
        num_partitions: Optional[int] = None,
        *,
        shardings: Optional[Shardings] = None,
        mesh: Any = None,
        progress: Optional[bool] = None,
    ) -> Text:
        """At most three changes of annotations that make the program send less, found by trying, as `hlo-partition --advise` prints them.

        Args:
          num_partitions: as for `partition`; so are `shardings`, `mesh` and `progress`.
        """
        words: list[Word] = [self._path, "--advise", *self._mesh_words(num_partitions, shardings, mesh)]
        return Text(self._spelled(self._run(words, progress), mesh))

    def search(
        self,
        num_partitions: Optional[int] = None,
        *,
        mesh: Any = None,
        machine: Optional[str] = None,
        memory: Union[int, str, None] = None,
        free: Union[str, Sequence[str]] = (),
        fix: Union[str, Sequence[str]] = (),
        shardings: Optional[Shardings] = None,
        progress: Optional[bool] = None,
    ) -> FoundShardings:
        """Chooses the shardings of all arrays that have none, as `hlo-partition --search=shardings`.

        Args:
          num_partitions: the number of devices, if no mesh is given; the mesh is then chosen, too.
          mesh: sizes of the axes that may cut arrays, as for `partition`.
          machine: the slice whose predicted seconds decide, such as "tpu-v3-128"; None: prices of a TPU v3.
          memory: bytes that a device has, or a text such as "16GiB"; None: what the machine has, or what the program needs by the
            shardings that `free` takes off, if that is more.
          free: names or globs whose shardings are chosen anew; "*": all that the module states.
          fix: of those that `free` names, these keep their shardings.
          shardings: as for `partition`: these are not chosen.
          progress: as for `partition`.

        Returns:
          What was found: `found.specs` by name, as tuples for `PartitionSpec(*spec)`; `found.shardings` goes to `partition`.

        Raises:
          ToroidError: if there is nothing to choose, or no program keeps the memory.
        """
        files = Files()
        out = files.folder / "annotations.txt"
        words: list[Word] = [self._path, "--search=shardings", f"--annotations={out}"]
        axes = self._axes(mesh)
        given = self._mesh_words(num_partitions, shardings, mesh)
        words += given
        if axes is not None and not any(word.startswith("--mesh=") for word in given):
            words.append("--mesh=" + ",".join(f"{name}={size}" for name, size in axes.items()))
        if machine is not None:
            words.append(f"--machine={machine}")
        if memory is not None:
            words.append(f"--memory={memory}")
        words += [f"--free={name}" for name in names_of(free, "free")]
        words += [f"--fix={name}" for name in names_of(fix, "fix")]
        text = self._spelled(self._run(words, progress), mesh)
        return FoundShardings.read(text, out.read_text())

    def page(
        self,
        out: Union[str, "os.PathLike[str]"],
        num_partitions: Optional[int] = None,
        *,
        shardings: Optional[Shardings] = None,
        mesh: Any = None,
        machine: Optional[str] = None,
        progress: Optional[bool] = None,
    ) -> Path:
        """Writes the explanation as a page for a browser, one file that opens without a network, and returns its path.

        Args:
          out: the file to write.
          num_partitions: as for `partition`; so are `shardings`, `mesh`, `machine` and `progress`.
        """
        if not isinstance(out, (str, os.PathLike)):
            raise ToroidError(f"page: expected the path of a file, got {type(out).__name__}")
        words: list[Word] = [self._path, f"--html={os.fspath(out)}", *self._mesh_words(num_partitions, shardings, mesh)]
        if machine is not None:
            words.append(f"--machine={machine}")
        self._run(words, progress)
        return Path(out)

    def check(
        self,
        args: Optional[Sequence[Any]] = None,
        num_partitions: Optional[int] = None,
        *,
        expected: Optional[Any] = None,
        shardings: Optional[Shardings] = None,
        mesh: Any = None,
        progress: Optional[bool] = None,
    ) -> Check:
        """Partitions the program, runs it on simulated devices and compares its results with those of the unpartitioned run.

        Args:
          args: as for `Partitioned.run`.
          expected: results of another runtime, such as `jax.jit(f)(*args)`, which are compared, too. A program of `shard_map` cannot run on
            one device and is compared with these alone.
          num_partitions: as for `partition`; so are `shardings`, `mesh` and `progress`.
        """
        words = self._mesh_words(num_partitions, shardings, mesh)
        data = _arrays.check_program(self._path, args, words, progress, self.arrays(), expected)
        return Check(data, _render.check(data))

    def run(self, args: Optional[Sequence[Any]] = None, *, progress: Optional[bool] = None) -> list[np.ndarray]:
        """Runs the program on one device, shardings ignored. Args as for `Partitioned.run`."""
        return _arrays.run_program(self._path, args, ["--num_partitions=1"], progress, self.arrays())

    def _device_words(self, num_partitions: Optional[int]) -> list[str]:
        return [] if num_partitions is None else [f"--num_partitions={num_partitions}"]

    def _mesh_words(self, num_partitions: Optional[int], shardings: Optional[Shardings], mesh: Any) -> list[str]:
        axes = self._axes(mesh)
        words = [] if num_partitions is None else [f"--num_partitions={num_partitions}"]
        own = self.describe()["shardings"]
        # The shardings given here name the axes themselves.
        if axes is not None and (own["meshes"] or not shardings):
            words.append("--mesh=" + ",".join(f"{name}={size}" for name, size in axes.items()))
        if shardings:
            if not isinstance(shardings, Mapping):
                raise ToroidError(f"shardings: expected a mapping of names to shardings, got {type(shardings).__name__}")
            ranks = self._ranks()
            for name, sharding in shardings.items():
                words += ["--shard", f"{self._command_name(name)}={sharding_of(str(name), sharding, ranks.get(name), axes)}"]
        return words

    def _named_axes(self, mesh: Any) -> Optional[dict[str, int]]:
        """The axes that the texts of the commands name: of the mesh that is given, or the module's own."""
        own = list(self.describe()["shardings"]["meshes"])
        if mesh is None and len(own) == 1 and re.fullmatch(r"mesh\[[^\]]*\]", own[0]):
            mesh = {name: int(size) for name, size in re.findall(r"'([^']+)'=(\d+)", own[0])}
        return self._axes(mesh)

    def _spelled(self, text: str, mesh: Any) -> str:
        """A text of the commands in words of Python and jax."""
        return with_places(in_specs(in_python(text), self._named_axes(mesh)), self._result_names)

    def _command_name(self, name: Any) -> str:
        """What the commands call a value: a result by its number, since a value that is returned twice has two places in the tree."""
        if name in self._result_names and name not in {parameter.get("author_name") for parameter in self.describe()["parameter_list"]}:
            return f"output{{{list(self._result_names).index(name)}}}"
        return str(name)

    def _axes(self, mesh: Any) -> Optional[dict[str, int]]:
        """The axes of a mesh; those that it does not name have the sizes of the module's own mesh, if it has one."""
        axes = mesh_axes(mesh)
        own = self.describe()["shardings"]["meshes"]
        if axes is None or len(own) != 1:
            return axes
        sizes = {name: int(size) for name, size in re.findall(r"'([^']+)'=(\d+)", next(iter(own)))}
        return {**sizes, **axes} if axes.keys() <= sizes.keys() else axes

    def _ranks(self) -> dict[str, int]:
        """The ranks of parameters and results by their names."""
        ranks = {}
        results = _arrays.arrays_of(self.describe()["result"]["shape"])
        for i, result in enumerate(results):
            names = [f"output{{{i}}}"] + (["output{}"] if len(results) == 1 else [])
            if len(self._result_names) == len(results):
                names.append(self._result_names[i])
            ranks.update({name: len(result.shape) for name in names})
        for parameter in self.describe()["parameter_list"]:
            arrays = _arrays.arrays_of(parameter["shape"])
            if len(arrays) != 1:  # A tuple's sharding is written as HLO has it.
                continue
            rank = len(arrays[0].shape)
            ranks[parameter["name"]] = rank
            if parameter.get("author_name"):
                ranks[parameter["author_name"]] = rank
        return ranks

    def __repr__(self) -> str:
        counts = self.describe()
        return f"{self.name}: {counts.get('instructions', '?')} instructions, {len(counts['parameter_list'])} parameters"


def _require_name(name: Any) -> None:
    if not isinstance(name, str) or not name:
        raise ToroidError(f"name: expected the name of a value, got {name!r}")


def load(
    x: Any, *, args: Optional[Sequence[Any]] = None, platform: Optional[str] = None, name: Optional[str] = None
) -> Module:
    """Loads a program.

    Args:
      x: the path of a dump or of a folder of dumps; the bytes or text of HLO or StableHLO; `jax.jit(f).lower(...)` or `.trace(...)`; a
        `jax.stages.Compiled`; a `jax.export.Exported`; a TensorFlow function; a `torch.export.ExportedProgram`, or tensors that PyTorch/XLA
        has yet to compute; a module of jaxlib; an open file.
      args: shapes for a TensorFlow function (`tf.TensorSpec`); for tensors of PyTorch/XLA a mapping of names to the tensors that they are
        computed from.
      platform: what a traced function is lowered for, such as "tpu".
      name: what to call it in prints.

    Raises:
      ToroidError: if there is no program in x, or more than one.
    """
    source = _load.source_of(x, args, platform)
    files: Optional[Files] = None
    if isinstance(source, Path):
        path = source
    else:
        files = Files()
        path = files.write(source.name, source.data)
    module = Module(path, files, name or "module")
    module._result_names = () if isinstance(source, Path) else source.results
    module._description = run_json("hlo-convert", [path, "--stats=json"])  # Reads the file: an error shows here.
    module.name = name or module._description.get("name", path.name)
    return module


def partition(m: Any, num_partitions: Optional[int] = None, **options: Any) -> Partitioned:
    """Loads m if it is no `Module` yet, and partitions it; see `Module.partition`."""
    return (m if isinstance(m, Module) else load(m)).partition(num_partitions, **options)


def search(m: Any, num_partitions: Optional[int] = None, **options: Any) -> FoundShardings:
    """Loads m if it is no `Module` yet, and chooses its shardings; see `Module.search`."""
    return (m if isinstance(m, Module) else load(m)).search(num_partitions, **options)


def simulate(
    m: Any,
    machine: Optional[str] = None,
    *,
    rates: Optional[str] = None,
    settings: Optional[Mapping[str, Any]] = None,
    mesh: Any = None,
    progress: Optional[bool] = None,
) -> Simulation:
    """Predicts one execution on a slice of a pod, as `hlo-simulate`.

    Args:
      m: a `Module`, which is partitioned first, a `Partitioned`, or what `load` takes.
      machine: a slice ("tpu-v3-128") or the file of a machine; None: the smallest TPU v3 slice with a core for each device.
      rates: "compiler" or "measured".
      settings: parameters of the machine, such as {"network.link_bytes_per_second": 100e9}.
      mesh: other sizes for the axes of a `Module`, as for `Module.partition`.
      progress: as for `Module.partition`.
    """
    program = m if isinstance(m, Program) else load(m)
    return program.simulate(machine, rates=rates, settings=settings, mesh=mesh, progress=progress)
