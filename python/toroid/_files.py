"""Files between Python and the commands, and what they are called in messages."""

from __future__ import annotations

import re
import shutil
import tempfile
import weakref
from pathlib import Path

# What the commands read at most (hlo/base/files.h).
MOST_BYTES = 2**31 - 1
_PREFIX = "toroid-"


class Files:
    """A folder for the files of one object, which goes with it.

    Messages name its files without the folder (`without_folders`), so that a file has the name of what the user gave.
    """

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._finalizer = weakref.finalize(self, shutil.rmtree, str(self.folder), True)

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
