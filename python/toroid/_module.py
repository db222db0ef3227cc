"""Programs, what is made of them, and what is found out about them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable, Mapping, Optional, Sequence

import numpy as np

from toroid import _arrays, _jaxlib, _load, _protos, _render
from toroid._commands import Word, run, run_json
from toroid._files import Files
from toroid._results import Check, Explanation, Simulation, Text
from toroid._shardings import mesh_axes, sharding_text

Shardings = Mapping[str, Any]


class _Program:
    def __init__(self, path: Path, files: Optional[Files], name: str):
        self._path, self._files, self.name = path, files, name
        self._description: Optional[dict[str, Any]] = None

    @property
    def path(self) -> Path:
        """The file that the commands read."""
        return self._path

    def text(self) -> str:
        """The program as HLO text."""
        return run("hlo-convert", [self._path, "-o", "-", "--format=text"])

    def serialize(self) -> bytes:
        """The program as a serialized HloModuleProto, as jaxlib takes it."""
        return self._serialized([])

    def _serialized(self, flags: Sequence[str]) -> bytes:
        files = Files()
        out = files.folder / "serialized.hlo.pb"
        run("hlo-convert", [self._path, "-o", out, "--format=pb", *flags])
        if self.describe()["container"] == "HloModuleProto":
            return out.read_bytes()
        return _protos.module_of_hlo_proto(out.read_bytes())

    def arrays(self) -> tuple[list[_arrays.Array], list[_arrays.Array]]:
        """The arrays of the parameters, with the author's names, and those of the result."""
        counts = self.describe()
        parameters: list[_arrays.Array] = []
        for parameter in counts["parameter_list"]:
            parameters += _arrays.arrays_of(parameter["shape"], parameter.get("author_name") or parameter["name"])
        return parameters, _arrays.arrays_of(counts["result"]["shape"])

    def describe(self) -> dict[str, Any]:
        """What is in the program: opcodes, parameters, shardings, work (`hlo-convert --stats=json`)."""
        if self._description is None:
            self._description = run_json("hlo-convert", [self._path, "--stats=json"])
        return self._description


def _options(progress: Optional[bool]) -> dict[str, Any]:
    return {"progress": progress}


class Partitioned(_Program):
    """The program that each device of a mesh runs."""

    def __init__(
        self,
        path: Path,
        files: Optional[Files],
        whole: "Module",
        statistics: dict[str, Any],
        explained: dict[str, Any],
    ):
        super().__init__(path, files, whole.name)
        self._whole = whole
        self.statistics = statistics
        self._explained = explained  # By the run that made it: the file does not hold the notes.

    @property
    def num_partitions(self) -> int:
        return int(self.statistics["num_partitions"])

    def arrays(self) -> tuple[list[_arrays.Array], list[_arrays.Array]]:
        """The whole arrays of the parameters and of the result, which the devices hold in parts."""
        return self._whole.arrays()

    def explain(self, *, full: bool = False, machine: Optional[str] = None) -> Explanation:
        """The table of `hlo-partition --explain`.

        Args:
          full: a row for every collective, instead of one for those that differ by a layer's number.
          machine: a slice, such as "tpu-v3-128", whose predicted times are added.
        """
        data = dict(self._explained)
        if full or machine is not None:
            words: list[Word] = [self._path, "--explain=" + ("full_json" if full else "json")]
            if machine is not None:
                words.append(f"--machine={machine}")
            data = run_json("hlo-partition", words)
            data["notes"] = self._explained["notes"]
            data["table"] += "".join(note["text"] + "\n" for note in data["notes"])
        return Explanation(data, data.pop("table"))

    def simulate(self, machine: Optional[str] = None, **options: Any) -> Simulation:
        """As `toroid.simulate`."""
        return simulate(self, machine, **options)

    def run(self, args: Optional[Sequence[Any]] = None, *, progress: Optional[bool] = None) -> list[np.ndarray]:
        """Runs the program on simulated devices: whole arguments in, whole results out.

        Args:
          args: arrays, or nested tuples, lists and dicts of arrays, in the order of the parameters. None: generated ones.
        """
        return _arrays.run_program(self._path, args, [], progress, self.arrays())

    def stablehlo(self) -> str:
        """The program as StableHLO text, made by the installed jaxlib."""
        return _jaxlib.stablehlo_text(_jaxlib.bytecode_of_hlo(self._serialized(["--split_for_stablehlo"])))

    def as_jax(self, devices: Optional[Sequence[Any]] = None) -> Callable[..., list[Any]]:
        """A function that runs the program on devices of jax: whole arguments in, whole arrays of jax out.

        Its arguments are those of `run`, each for itself: `f(params, batch)`. It copies what it is given: no argument is used up,
        even if the program donates it.

        Args:
          devices: the devices of jax, in the order of the program's; None: the first of all. Tests make them of the host with
            `jax.config.update('jax_num_cpu_devices', 8)`.

        Raises:
          ToroidError: if jax is missing, has too few devices, or cannot compile the program.
        """
        proto = self._serialized(["--split_for_stablehlo"])
        return _jaxlib.callable_of(proto, *self.arrays(), self.num_partitions, devices)

    def __repr__(self) -> str:
        sent = sum(c["sent_bytes"] for c in self.statistics["collectives"].values())
        count = sum(c["count"] for c in self.statistics["collectives"].values())
        return (
            f"{self.name}: one program for {self.num_partitions} devices; {count} collectives send "
            f"{_render.size(sent)} per device; peak memory {_render.size(self.statistics['memory']['peak'])}"
        )


class Module(_Program):
    """A program of the whole mesh, with or without shardings."""

    def __init__(self, path: Path, files: Optional[Files], name: str):
        super().__init__(path, files, name)

    def partition(
        self,
        num_partitions: Optional[int] = None,
        *,
        shardings: Optional[Shardings] = None,
        mesh: Any = None,
        machine: Optional[str] = None,
        strategies: Optional[Sequence[str]] = None,
        progress: Optional[bool] = None,
    ) -> Partitioned:
        """Writes the program of one device, as `hlo-partition`.

        Args:
          num_partitions: the number of devices; None: as many as the shardings name.
          shardings: for parameters and other values by name (`params['w_up']`, `output{0}`, `parameter(3)`, a glob on op names) a
            `PartitionSpec`, a tuple of axes, a `NamedSharding` or the text of an HLO sharding.
          mesh: the axes that the specs name, as a mapping of names to sizes, "data=2,model=4" or a jax mesh; None: the module's own.
          machine: decide by predicted seconds on this slice, such as "tpu-v3-128", instead of by bytes sent.
          strategies: how to search for better plans; [] decides each op alone.
          progress: whether a line shows the seconds that it takes; None: on a terminal.

        Raises:
          ToroidError: if the program cannot be partitioned so.
        """
        files = Files()
        out = files.folder / "partitioned.hlo.pb"
        words: list[Word] = [self._path, "-o", out, "--stats", files.folder / "statistics.json", "--explain=json", *self._sharding_words(num_partitions, shardings, mesh)]
        if machine is not None:
            words.append(f"--machine={machine}")
        if strategies is not None:
            words.append("--strategies=" + (",".join(strategies) or "none"))
        explained = run_json("hlo-partition", words, **_options(progress))
        statistics = json.loads((files.folder / "statistics.json").read_text())
        return Partitioned(out, files, self, statistics, explained)

    def why(
        self,
        name: str,
        num_partitions: Optional[int] = None,
        *,
        shardings: Optional[Shardings] = None,
        mesh: Any = None,
        progress: Optional[bool] = None,
    ) -> str:
        """Why a value is cut as it is: the annotation and the ops that each axis came through, as `hlo-partition --why` prints it.

        Args:
          name: an instruction, a name of an `Explanation`'s rows, `parameter(3)`, `output{0}`, or a glob on these.
          num_partitions: as for `partition`; so are `shardings`, `mesh` and `progress`.

        Raises:
          ToroidError: if no array has the name; the message has the nearest one.
        """
        words: list[Word] = [self._path, f"--why={name}", *self._sharding_words(num_partitions, shardings, mesh)]
        return run("hlo-partition", words, **_options(progress))

    def what_if(
        self,
        name: str,
        sharding: Any,
        num_partitions: Optional[int] = None,
        *,
        shardings: Optional[Shardings] = None,
        mesh: Any = None,
        progress: Optional[bool] = None,
    ) -> str:
        """Bytes sent, collectives, flops and memory per device as the program is, beside those with another sharding of one value.

        Args:
          name: a value, as in the `shardings` of `partition`.
          sharding: what it is cut by instead: a `PartitionSpec`, a tuple of axes, a `NamedSharding` or the text of an HLO sharding.
          num_partitions: as for `partition`; so are `shardings`, `mesh` and `progress`.

        Raises:
          ToroidError: if no value has the name, or the sharding does not fit it.
        """
        text = sharding_text(sharding, self._ranks().get(name), mesh_axes(mesh))
        words: list[Word] = [self._path, f"--what_if={name}={text}"]
        words += self._sharding_words(num_partitions, shardings, mesh)
        return run("hlo-partition", words, **_options(progress))

    def check(
        self,
        args: Optional[Sequence[Any]] = None,
        num_partitions: Optional[int] = None,
        *,
        shardings: Optional[Shardings] = None,
        mesh: Any = None,
        progress: Optional[bool] = None,
    ) -> Check:
        """Partitions the program, runs it on simulated devices and compares its results with those of the unpartitioned run.

        Args:
          args: as for `Partitioned.run`.
          num_partitions: as for `partition`; so are `shardings`, `mesh` and `progress`.
        """
        words = self._sharding_words(num_partitions, shardings, mesh)
        data = _arrays.check_program(self._path, args, words, progress, self.arrays()[0])
        return Check(data, _render.check(data))

    def run(self, args: Optional[Sequence[Any]] = None, *, progress: Optional[bool] = None) -> list[np.ndarray]:
        """Runs the program on one device, shardings ignored. Args as for `Partitioned.run`."""
        return _arrays.run_program(self._path, args, ["--num_partitions=1"], progress, self.arrays())

    def _device_words(self, num_partitions: Optional[int]) -> list[str]:
        return [] if num_partitions is None else [f"--num_partitions={num_partitions}"]

    def _sharding_words(self, num_partitions: Optional[int], shardings: Optional[Shardings], mesh: Any) -> list[str]:
        axes = mesh_axes(mesh)
        words = self._device_words(num_partitions)
        if shardings:
            ranks = self._ranks()
            for name, sharding in shardings.items():
                words += ["--shard", f"{name}={sharding_text(sharding, ranks.get(name), axes)}"]
        return words

    def _ranks(self) -> dict[str, int]:
        ranks = {}
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


def load(
    x: Any, *, args: Optional[Sequence[Any]] = None, platform: Optional[str] = None, name: Optional[str] = None
) -> Module:
    """Loads a program.

    Args:
      x: the path of a dump or of a folder of dumps; the bytes or text of HLO or StableHLO; `jax.jit(f).lower(...)` or `.trace(...)`; a
        `jax.stages.Compiled`; a `jax.export.Exported`; a TensorFlow function; a module of jaxlib.
      args: shapes for a TensorFlow function (`tf.TensorSpec`).
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
    module._description = run_json("hlo-convert", [path, "--stats=json"])  # Reads the file: an error shows here.
    module.name = name or module._description.get("name", path.name)
    return module


def partition(m: Any, num_partitions: Optional[int] = None, **options: Any) -> Partitioned:
    """Loads m if it is no `Module` yet, and partitions it; see `Module.partition`."""
    return (m if isinstance(m, Module) else load(m)).partition(num_partitions, **options)


def simulate(
    m: Any,
    machine: Optional[str] = None,
    *,
    rates: Optional[str] = None,
    settings: Optional[Mapping[str, Any]] = None,
    progress: Optional[bool] = None,
) -> Simulation:
    """Predicts one execution on a slice of a pod, as `hlo-simulate`.

    Args:
      m: a `Module`, which is partitioned first, a `Partitioned`, or what `load` takes.
      machine: a slice ("tpu-v3-128") or the file of a machine; None: the smallest TPU v3 slice with a core for each device.
      rates: "compiler" or "measured".
      settings: parameters of the machine, such as {"network.link_bytes_per_second": 100e9}.
      progress: as for `Module.partition`.
    """
    program = m if isinstance(m, _Program) else load(m)
    words: list[Word] = [program.path]
    if machine is not None:
        words.append(f"--machine={machine}")
    if rates is not None:
        words.append(f"--rates={rates}")
    for key, value in (settings or {}).items():
        words += ["--set", f"{key}={value}"]
    data = run_json("hlo-simulate", [*words, "--json=-"], **_options(progress))
    return Simulation(data, _render.simulation(data))
