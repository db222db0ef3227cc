"""The notebooks run from their first cell to their last, and what they tell is so."""

import sys
from pathlib import Path

import nbformat
import pytest

NOTEBOOKS = Path(__file__).absolute().parents[1] / "notebooks"
sys.path.insert(0, str(NOTEBOOKS))

from execute import execute  # noqa: E402


def told(notebook):
    """What the cells print and show as text, joined."""
    texts = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            texts.append(output.get("text") or output.get("data", {}).get("text/plain", ""))
    return "\n".join(texts)


@pytest.fixture(scope="module", name="runs")
def notebooks_that_ran():
    return {path.stem: execute(path) for path in sorted(NOTEBOOKS.glob("*.ipynb"))}


def test_both_run_and_are_committed_with_their_outputs(runs):
    assert sorted(runs) == ["why_is_there_an_all_gather", "your_step_on_256_chips"]
    for path in NOTEBOOKS.glob("*.ipynb"):
        assert str(NOTEBOOKS) not in path.read_text()
        committed = nbformat.read(path, as_version=4)
        nbformat.validate(committed)
        for there, here in zip(committed.cells, runs[path.stem].cells):
            kinds = [[sorted(o.get("data", {})) for o in cell.get("outputs", [])] for cell in (there, here)]
            assert kinds[0] == kinds[1], f"{path.name}: {there.source[:60]!r}: run execute.py"


def test_the_all_gather_is_found_by_its_line_and_goes(runs):
    text = told(runs["why_is_there_an_all_gather"])
    assert "sharding_constraint.2 bf16[256,2048,32000] is cut" in text and "(In[2]:7)" in text
    assert "gone: all-gather 3.7 GB  sharding_constraint.2" in text
    sent = [line.split("send ")[1].split(" GB")[0] for line in text.splitlines() if line.startswith(("before:", "after: "))]
    assert float(sent[1]) < 0.95 * float(sent[0])
    assert "first_loss sends" in text and "more than" in text


def test_every_mesh_has_a_time_and_faster_links_help(runs):
    text = told(runs["your_step_on_256_chips"])
    for mesh in ("512 x 1", "128 x 4", "64 x 8", "32 x 16", "16 x 32"):
        assert f"\n{mesh} " in text
    seconds = [float(line.split(": ")[1].split(" s")[0]) for line in text.splitlines() if ", links x " in line]
    assert len(seconds) == 3 and seconds[0] > seconds[1] >= seconds[2]
