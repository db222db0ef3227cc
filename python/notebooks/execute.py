"""Runs the notebooks of this folder and writes their outputs into them: python3 execute.py [NOTEBOOK ...]"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).absolute().parent


def execute(path: Path) -> nbformat.NotebookNode:
    """The notebook with the outputs of this run; raises nbclient's CellExecutionError if a cell fails."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        # Source lines are those of an installed package, not of this checkout.
        packages = Path(folder) / "site-packages"
        packages.mkdir()
        (packages / "toroid").symlink_to(HERE.parent / "toroid")
        environment = dict(os.environ, PYTHONPATH=str(packages), JAX_PLATFORMS="cpu")
        NotebookClient(notebook, timeout=120, kernel_name="python3", coalesce_streams=True).execute(env=environment)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # Times of this run.
        # A table of pandas has a name that changes with each run; log lines of libraries are no results.
        cell.outputs = [o for o in cell.get("outputs", []) if o.get("name") != "stderr"] if cell.cell_type == "code" else None
        if cell.cell_type != "code":
            del cell["outputs"]
    return notebook


if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(HERE.glob("*.ipynb")):
        nbformat.write(execute(Path(name)), name)
