"""Runs Toroid's commands as processes of their own.

A command that fails, is interrupted or takes all memory leaves Python as it was, and every Python runs the same binaries.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any, Iterable, Optional, Sequence, Union

Word = Union[str, "os.PathLike[str]"]


class ToroidError(Exception):
    """What a command could not do: one line with the place, what is wrong, and what to do."""


class ToroidWarning(UserWarning):
    """What a command noticed, such as an annotation that is not followed."""


_LONGEST_LINE = 300  # Of an error of others, which may hold a whole program.


def first_line(error: BaseException) -> str:
    """The first line of an error that says something, or its kind."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:_LONGEST_LINE] if lines else type(error).__name__


# How long a command may run before its progress line appears, and how often the line is written anew, in seconds.
_PROGRESS_AFTER, _PROGRESS_EVERY = 2.0, 0.5


def command_path(name: str) -> str:
    """The file of a command: in $TOROID_BIN, in the package, or on the PATH."""
    folders = [os.environ.get("TOROID_BIN"), str(Path(__file__).parent / "bin")]
    for folder in folders:
        if folder and os.access(os.path.join(folder, name), os.X_OK):
            return os.path.join(folder, name)
    found = shutil.which(name)
    if found is None:
        raise ToroidError(f"{name} is neither in the package nor on the PATH; set TOROID_BIN to the folder that has it")
    return found


class _Progress:
    """A line on a terminal's standard error with the seconds that a command has run."""

    def __init__(self, what: str, enabled: Optional[bool]):
        self._what = what
        self._enabled = sys.stderr.isatty() if enabled is None else enabled
        self._start = time.monotonic()
        self._shown = False

    def update(self) -> None:
        seconds = time.monotonic() - self._start
        if self._enabled and seconds >= _PROGRESS_AFTER:
            self._shown = True
            sys.stderr.write(f"\r{self._what}: {seconds:.0f} s")
            sys.stderr.flush()

    def close(self) -> None:
        if self._shown:
            sys.stderr.write("\r" + " " * (len(self._what) + 16) + "\r")
            sys.stderr.flush()


def _stop(process: "subprocess.Popen[bytes]") -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    process.wait()


def run(
    name: str,
    arguments: Iterable[Word],
    *,
    progress: Optional[bool] = None,
    allowed_exits: Sequence[int] = (0,),
) -> str:
    """Runs a command and returns its standard output.

    Args:
      name: the command, such as "hlo-partition".
      arguments: its arguments.
      progress: whether a line shows the seconds that it has run; None: if standard error is a terminal.
      allowed_exits: exit codes that are no errors.

    Raises:
      ToroidError: with the command's own line, if it ends with another exit code.
      KeyboardInterrupt: after the command was ended.
    """
    words = [command_path(name)] + [os.fspath(argument) for argument in arguments]
    environment = dict(os.environ, COLUMNS=os.environ.get("COLUMNS", "120"))
    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            start_new_session=True,  # Ctrl-C reaches Python alone, which then ends the command.
        )
    except OSError as error:
        raise ToroidError(f"{words[0]}: {error.strerror or error}") from None
    bar = _Progress(name, progress)
    outputs: list[bytes] = [b"", b""]

    def read() -> None:
        outputs[0], outputs[1] = process.communicate()

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        while reader.is_alive():
            reader.join(_PROGRESS_EVERY)
            bar.update()
    except BaseException:
        _stop(process)
        reader.join()
        raise
    finally:
        bar.close()
    lines = [line for line in outputs[1].decode("utf-8", "replace").splitlines() if line.strip()]
    if process.returncode not in allowed_exits:
        if process.returncode < 0:
            cause = signal.Signals(-process.returncode).name
            raise ToroidError(f"{name} was ended by {cause}" + (f": {lines[-1]}" if lines else ""))
        # The error is the command's last line; the lines before it are notes.
        raise ToroidError(lines[-1] if lines else f"{name} ended with exit code {process.returncode}")
    for line in lines:
        warnings.warn(line, ToroidWarning, stacklevel=4)
    return outputs[0].decode("utf-8", "replace")


def run_json(name: str, arguments: Iterable[Word], **options: Any) -> dict[str, Any]:
    """Runs a command whose standard output is one line of JSON, and returns the object."""
    return dict(json.loads(run(name, arguments, **options)))
