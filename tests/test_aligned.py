"""What was measured of a judge is kept, and stands beside the scores of runs that ask it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

import trajgrade
from trajgrade import agreement
from trajgrade.aligned import alignments_of, read_alignments, save
from trajgrade.aligning import Label, align
from trajgrade.alignment import Alignment
from trajgrade.errors import ConfigError
from trajgrade.judges.scripted import ScriptedJudge
from trajgrade.run import Run

KEY = "llm_trajectory_judge"
SAID = {True: "it went well", False: "it went astray"}
LABELS = [Label(f"e{n}", n % 2 == 0) for n in range(40)]


def rows(n: int) -> list[dict[str, Any]]:
    return [
        {
            "id": f"e{place}",
            "outputs": [{"role": "assistant", "content": SAID[good(place)]}],
        }
        for place in range(n)
    ]


def good(place: int) -> bool:
    """What the judge says: wrong for one of twenty that people pass, and five that they fail."""
    return place != 4 if place % 2 == 0 else place in (1, 3, 5, 7, 9)


def judged(n: int = 40, name: str = "scripted", **given: Any) -> Run:
    def said(request: Any) -> dict[str, Any]:
        return {"reasoning": "…", "pass": SAID[True] in request.turns[-1].text}

    judge = {"name": KEY, "params": {"endpoint": ScriptedJudge(said, name=name)}}
    return trajgrade.evaluate(rows(n), [judge], **given)


@pytest.fixture(scope="module")
def measured() -> list[Alignment]:
    run = judged()
    return alignments_of(run, align(run, LABELS), passes=0.5)


def test_the_judge_and_its_prompt_are_kept_with_what_was_measured(measured):
    (found,) = measured
    assert found.metric == KEY
    assert found.n_labels == 40
    assert [name.partition(", prompt ")[0] for name in found.judges] == ["scripted"]
    assert found.estimates["sensitivity"].value == pytest.approx(19 / 20)
    assert found.estimates["specificity"].value == pytest.approx(15 / 20)
    assert found.judged_rate is None


def test_a_file_holds_all_of_it(measured, tmp_path: Path):
    save(measured, tmp_path / "alignment.json")
    assert read_alignments(tmp_path / "alignment.json") == measured


def test_a_run_has_its_pass_rate_corrected(measured):
    (found,) = judged(30, judge_alignment=measured).judge_alignment
    passes = sum(map(good, range(30)))
    pairs = [(place % 2 == 0, good(place)) for place in range(40)]
    assert found.judged_rate == agreement.share(passes, 30)
    assert found.corrected_rate == agreement.corrected(passes, 30, pairs)
    assert found.differs == ""


def test_another_judge_than_the_one_measured_is_warned_of(measured):
    run = judged(name="a-bigger-one", judge_alignment=measured)
    assert "another judge (scripted, prompt" in run.judge_alignment[0].differs
    assert [text for text in run.warnings if "a-bigger-one" in text]


def test_it_is_read_back_from_files_and_stores(measured, tmp_path: Path):
    store = str(tmp_path / "runs.db")
    run = judged(store=store, judge_alignment=measured)
    run.save(tmp_path / "run.json")
    assert Run.load(tmp_path / "run.json").judge_alignment == run.judge_alignment
    assert Run.load(f"run:{run.id}", store=store).judge_alignment == run.judge_alignment


@pytest.mark.parametrize("suffix", ["md", "html"])
def test_reports_show_it(measured, tmp_path: Path, suffix: str):
    pytest.importorskip("jinja2")
    judged(judge_alignment=measured).save(tmp_path / f"run.{suffix}")
    text = (tmp_path / f"run.{suffix}").read_text()
    assert "0.764 to 0.991" in text
    assert "pass rate, corrected" in text


def test_a_report_of_other_metrics_is_refused_before_anything_runs(measured):
    other = [msgspec.structs.replace(measured[0], metric="llm_trajectory_juge")]
    with pytest.raises(ConfigError, match=f"Did you mean '{KEY}"):
        judged(judge_alignment=other)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "No such file"),
        ("[1", "cannot be read"),
        ('{"judge_alignment": [{"metric": "x"}]}', "missing required field"),
    ],
)
def test_a_broken_report_is_told(tmp_path: Path, text: str | None, message: str):
    place = tmp_path / "alignment.json"
    if text is not None:
        place.write_text(text)
    with pytest.raises(ConfigError, match=message):
        judged(judge_alignment=place)
