"""Files between Python and the commands, and what they are called in messages."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import weakref
from pathlib import Path

# What the commands read at most (hlo/base/files.h).
MOST_BYTES = 2**31 - 1
_PREFIX = "toroid-"


def _remove(folder: str, maker: int) -> None:
    """Removes a folder in the process that made it: a child by fork has the object, too, and ends before it."""
    if os.getpid() == maker:
        shutil.rmtree(folder, ignore_errors=True)


class Files:
    """A folder for the files of one object, which goes with it.

    Messages name its files without the folder (`without_folders`), so that a file has the name of what the user gave. A copy, and
    what another process gets by pickle, has a folder and files of its own.
    """

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._finalizer = weakref.finalize(self, _remove, str(self.folder), os.getpid())

    def __getstate__(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.folder.iterdir()}

    def __setstate__(self, files: dict[str, bytes]) -> None:
        Files.__init__(self)
        for name, data in files.items():
            (self.folder / name).write_bytes(data)

    def write(self, name: str, data: bytes) -> Path:
        path = self.folder / re.sub(r"[^\w.\[\]()-]", "_", name)[:100]
        path.write_bytes(data)
        return path


def without_folders(text: str) -> str:
    """A message with the names of files of `Files` alone.

    >>> without_folders(f"{tempfile.gettempdir()}/toroid-ab_12/bytes:1:12: expected a computation")
    'bytes:1:12: expected a computation'
    """
    folder = re.escape(str(Path(tempfile.gettempdir()) / _PREFIX)) + "[a-z0-9_]+/"
    return re.sub(folder, "", text)
