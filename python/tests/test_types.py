"""The package's types hold, and the examples in its docstrings are true."""

import doctest
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).absolute().parents[1] / "toroid"


def test_mypy_finds_nothing(tmp_path):
    found = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", "--cache-dir", str(tmp_path), str(PACKAGE)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stdout


@pytest.mark.parametrize("name", ["_arrays", "_diff", "_files", "_jaxlib", "_protos", "_render", "_shardings", "_specs", "_spelling", "_torch"])
def test_the_examples_of_docstrings_are_true(name):
    result = doctest.testmod(importlib.import_module(f"toroid.{name}"))
    assert result.attempted > 0 and result.failed == 0
