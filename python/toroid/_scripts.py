"""The commands of an installed wheel: pip puts a script for each of them on the PATH, which calls main()."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from toroid._commands import ToroidError, command_path


def main() -> None:
    """Becomes the command that the script is named after."""
    name = Path(sys.argv[0]).name
    try:
        path = command_path(name)
        # Else the script would start itself again: it is on the PATH.
        if os.path.samefile(path, sys.argv[0]):
            raise ToroidError(f"{name}: the commands are missing in {Path(__file__).parent / 'bin'}; install the wheel again")
    except ToroidError as error:
        sys.exit(str(error))
    os.execv(path, [name] + sys.argv[1:])
