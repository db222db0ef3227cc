"""Runs Toroid's commands as processes of their own.

A command that fails, is interrupted or takes all memory leaves Python as it was, and every Python runs the same binaries.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any, Iterable, Optional, Sequence, Union

from toroid._files import without_folders
from toroid._spelling import in_python

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
        shows_lines = sys.stderr is not None and (sys.stderr.isatty() or type(sys.stderr).__module__.startswith("ipykernel"))
        self._enabled = shows_lines if enabled is None else enabled
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


class _Process(threading.Thread):
    """Runs a command to its end, in a thread of its own: signals interrupt the main thread alone, never the start of a command."""

    def __init__(self, words: Sequence[str]):
        super().__init__(daemon=True)
        self._words = words
        self._lock = threading.Lock()
        self._process: Optional[subprocess.Popen[bytes]] = None
        self._cancelled = False
        self.error: Optional[Exception] = None  # The command could not be started, or not be heard.
        self.exit_code, self.output, self.errors = 0, "", ""
        self.ended = threading.Event()

    def run(self) -> None:
        try:
            self._run()
        except Exception as error:  # pylint: disable=broad-except
            self.error = error  # Raised where the command was called.
        finally:
            self.ended.set()

    def _run(self) -> None:
        process = subprocess.Popen(
            self._words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(os.environ, COLUMNS=os.environ.get("COLUMNS", "120")),
            start_new_session=True,  # Ctrl-C reaches Python alone, which then ends the command.
        )
        with self._lock:
            self._process = process
            if self._cancelled:
                process.kill()
        output, errors = process.communicate()
        self.exit_code = process.returncode
        self.output, self.errors = output.decode("utf-8", "replace"), errors.decode("utf-8", "replace")

    def cancel(self) -> None:
        """Ends the command, also if it has not started yet."""
        with self._lock:
            self._cancelled = True
            if self._process is not None:
                self._process.kill()


def _finish(words: Sequence[str], bar: _Progress) -> _Process:
    """Runs a command to its end. Whatever interrupts this ends the command first."""
    process = _Process(words)
    try:
        process.start()
        while process.is_alive():
            process.join(_PROGRESS_EVERY)
            bar.update()
    except BaseException:
        process.cancel()
        # The thread may be about to start, or not have been started at all.
        process.ended.wait(1.0)
        if process.is_alive():
            process.join()
        raise
    finally:
        bar.close()
    if process.error is not None:
        raise ToroidError(f"{words[0]}: {getattr(process.error, 'strerror', None) or first_line(process.error)}")
    return process


def _checked(argument: Word) -> str:
    """An argument as text, which the system takes.

    Raises:
      ToroidError: if it has a zero byte, or is no text of Unicode.
    """
    text = os.fspath(argument)
    shown = re.sub("^--[a-z_]+=", "", text)[:_LONGEST_LINE]
    try:
        encoded = os.fsencode(text)
    except UnicodeEncodeError:
        raise ToroidError(f"{shown!r} is no text of Unicode") from None
    if b"\0" in encoded:
        raise ToroidError(f"{shown!r} has a zero byte")
    return text


def _frames_of_package() -> int:
    """The stacklevel at which a warning names the first line outside this package."""
    level, frame = 1, sys._getframe(1)
    folder = str(Path(__file__).parent)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(folder):
        level, frame = level + 1, frame.f_back
    return level


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
      ToroidError: with the command's own line, in which flags are spelled as in Python, if it ends with another exit code.
      KeyboardInterrupt: after the command was ended.
    """
    words = [command_path(name)] + [_checked(argument) for argument in arguments]
    process = _finish(words, _Progress(name, progress))
    exit_code = process.exit_code
    lines = [line for line in in_python(without_folders(process.errors)).splitlines() if line.strip()]
    if exit_code not in allowed_exits:
        if exit_code < 0:
            cause = signal.Signals(-exit_code).name
            raise ToroidError(f"{name} was ended by {cause}" + (f": {lines[-1]}" if lines else ""))
        # The error is the command's last line; the lines before it are notes.
        raise ToroidError(lines[-1] if lines else f"{name} ended with exit code {exit_code}")
    for line in lines:
        warnings.warn(line, ToroidWarning, stacklevel=_frames_of_package())
    return process.output


def run_json(name: str, arguments: Iterable[Word], **options: Any) -> dict[str, Any]:
    """Runs a command whose standard output is one line of JSON, and returns the object."""
    return dict(json.loads(run(name, arguments, **options)))
