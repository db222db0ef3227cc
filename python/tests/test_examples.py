"""The example of a test in a model's repository passes as it is, and fails when an annotation is made worse."""

import os
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).absolute().parents[1] / "examples" / "test_communication.py"

# The outputs of feed-forward layers are made whole on every device.
WORSE = """
import pytest
import jax
from toroid.examples import decoder

@pytest.fixture(name="step")
def step_of_the_model():
    def whole(w, x):
        return jax.lax.with_sharding_constraint(before(w, x), decoder.P())
    before, decoder.feed_forward = decoder.feed_forward, whole
    yield decoder.train_step, decoder.shapes("tiny", batch=16, length=64), decoder.specs("tiny")
    decoder.feed_forward = before
"""


def pytest_of(path):
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(path)],
        capture_output=True,
        text=True,
        check=False,
        env=dict(os.environ, COLUMNS="120"),
    )


def test_the_example_passes():
    done = pytest_of(EXAMPLE)
    assert done.returncode == 0 and "4 passed" in done.stdout, done.stdout


def test_an_annotation_that_is_made_worse_fails_it_with_the_table(tmp_path):
    text = EXAMPLE.read_text()
    begin, end = text.index('@pytest.fixture(name="step")'), text.index("def on(")
    worse = tmp_path / "test_worse.py"
    worse.write_text(text[:begin] + WORSE.strip() + "\n\n\n" + text[end:])
    done = pytest_of(worse)
    assert done.returncode == 1, done.stdout
    assert "CommunicationGrew: train_step sends" in done.stdout and "bytes per device, more than 1,130,000" in done.stdout
    assert f"({worse}:" in done.stdout or "test_worse.py:" in done.stdout  # The constraint's line is in the table.
    assert "sharding_constraint" in done.stdout
