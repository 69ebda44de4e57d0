"""examples/evaluate_agent.ipynb is run from its first cell to its last, as in Jupyter."""

from __future__ import annotations

from pathlib import Path

import nbclient
import nbformat
import pytest

from tests.conftest import ROOT

NOTEBOOK = ROOT / "examples" / "evaluate_agent.ipynb"


@pytest.mark.filterwarnings("ignore")  # what Jupyter's own parts warn each other of
def test_the_example_runs_from_metrics_to_the_radar_plot(tmp_path: Path):
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "saved with its outputs"
    where = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources=where).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert not [output for output in outputs if output.output_type in ("error", "stream")]
    pictures = [o.data["image/svg+xml"] for o in outputs if "image/svg+xml" in o.get("data", {})]
    assert len(pictures) == 2
    assert all("trajectory_recall" in picture for picture in pictures)
    assert (tmp_path / "radar.png").read_bytes().startswith(b"\x89PNG")
    said = "".join(output.get("data", {}).get("text/html", "") for output in outputs)
    assert "The second agent" in said
    assert "of 32" in said
