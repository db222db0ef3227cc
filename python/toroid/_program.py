"""Programs in files, and the program of one device."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, Mapping, Optional, Sequence

import numpy as np

from toroid import _arrays, _jaxlib, _protos, _render
from toroid._commands import ToroidError, Word, run, run_json
from toroid._files import Files
from toroid._results import Explanation, Simulation
from toroid._spelling import in_order, tried_lines

Shardings = Mapping[str, Any]
_RATES = ("compiler", "measured")


class Program:
    """A program in a file that the commands read."""

    def __init__(self, path: Path, files: Optional[Files], name: str):
        self._path, self._files, self.name = path, files, name
        self._description: Optional[dict[str, Any]] = None

    def __getstate__(self) -> dict[str, Any]:
        # Another process, or a copy, has the files elsewhere.
        return {**self.__dict__, "_path": Path(self._path.name) if self._files is not None else self._path.absolute()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._files is not None:
            self._path = self._files.folder / self._path

    @property
    def path(self) -> Path:
        """The file that the commands read."""
        return self._path

    def text(self) -> str:
        """The program as HLO text."""
        return run("hlo-convert", [self._path, "-o", "-", "--format=text"])

    def serialize(self) -> bytes:
        """The program as a serialized HloModuleProto, as jaxlib takes it."""
        files = Files()
        out = files.folder / "serialized.hlo.pb"
        run("hlo-convert", [self._path, "-o", out, "--format=pb"])
        return _protos.module_in(out.read_bytes(), self.describe()["container"])

    def stablehlo(self) -> str:
        """The program as StableHLO text, in MLIR's generic form."""
        return run("hlo-convert", [self._path, "-o", "-", "--format=stablehlo"])

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

    def simulate(
        self,
        machine: Optional[str] = None,
        *,
        rates: Optional[str] = None,
        settings: Optional[Mapping[str, Any]] = None,
        mesh: Any = None,
        progress: Optional[bool] = None,
    ) -> Simulation:
        """As `toroid.simulate`."""
        words: list[Word] = [self._path, "--json=-", *self._mesh_words(None, None, mesh)]
        if machine is not None:
            words.append(f"--machine={machine}")
        if rates is not None and rates not in _RATES:
            raise ToroidError(f"rates: expected {' or '.join(map(repr, _RATES))}, got {rates!r}")
        if rates is not None:
            words.append(f"--rates={rates}")
        if settings is not None and not isinstance(settings, Mapping):
            raise ToroidError(f"settings: expected a mapping of names to values, got {type(settings).__name__}")
        for key, value in (settings or {}).items():
            words += ["--set", f"{key}={value}"]
        data = run_json("hlo-simulate", words, progress=progress)
        return Simulation(data, _render.simulation(data))

    def _mesh_words(self, num_partitions: Optional[int], shardings: Optional[Shardings], mesh: Any) -> list[str]:
        """The flags for a mesh and for shardings on it."""
        if mesh is not None:
            raise ToroidError("a program that is partitioned has its mesh; give mesh to partition()")
        return []


class Partitioned(Program):
    """The program that each device of a mesh runs."""

    def __init__(
        self,
        path: Path,
        files: Optional[Files],
        whole: Program,
        statistics: dict[str, Any],
        explained: dict[str, Any],
        axes: Optional[Mapping[str, int]] = None,
    ):
        super().__init__(path, files, whole.name)
        self._whole = whole
        self.statistics = statistics
        self._axes_of_mesh = axes
        self._explained = explained  # By the run that made it: the file does not hold the notes.

    @property
    def num_partitions(self) -> int:
        return int(self.statistics["num_partitions"])

    def stablehlo(self) -> str:
        """The program as StableHLO text, in MLIR's generic form."""
        return run("hlo-convert", [self._path, "-o", "-", "--format=stablehlo"])

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
            # What the partitioner noted and tried is not in the file.
            for key in ("notes", "diagnosis"):
                data[key] = self._explained[key]
            tried = tried_lines(self._explained["table"])
            data["table"] += "".join(note["text"] + "\n" for note in data["notes"])
            data["table"] = in_order(tried, data["table"])
        return Explanation(data, data.pop("table"), self._axes_of_mesh)

    def run(self, args: Optional[Sequence[Any]] = None, *, progress: Optional[bool] = None) -> list[np.ndarray]:
        """Runs the program on simulated devices: whole arguments in, whole results out.

        Args:
          args: arrays, or nested tuples, lists and dicts of arrays, in the order of the parameters. None: generated ones.
        """
        return _arrays.run_program(self._path, args, [], progress, self.arrays())

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
        return _jaxlib.callable_of(self.stablehlo(), *self.arrays(), self.num_partitions, devices)

    def __repr__(self) -> str:
        count = sum(c["count"] for c in self.statistics["collectives"].values())
        sent = _render.size(self._explained["sent_bytes"])  # With the trips of loops.
        return (
            f"{self.name}: one program for {self.num_partitions} devices; {count} collectives send {sent} per device; "
            f"peak memory {_render.size(self.statistics['memory']['peak'])}"
        )
