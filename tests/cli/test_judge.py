"""`trajgrade judge align`: a saved run's verdicts against people's labels in a CSV file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import trajgrade
from tests.cli.conftest import Command
from trajgrade.result import EvaluationResult

PASSED: dict[str, object] = {"a": True, "b": True, "c": True, "d": False, "e": False, "f": True}
PEOPLE = "id,label\na,pass\nb,yes\nc,0\nd,fail\ne,true\ne,true\ne,no\ng,pass\nf,1\nf,0\n"


def run_of(verdicts: dict[str, object], key: str = "good") -> trajgrade.Run:
    def judged(outputs: dict[str, object]) -> EvaluationResult:
        verdict = outputs["verdict"]
        score = float(verdict) if isinstance(verdict, bool | float) else 0.0
        return EvaluationResult(key, score, verdict, comment=f"said {verdict}")

    judged.__name__ = key
    rows = [
        {"id": name, "trial": trial, "outputs": {"verdict": verdict}}
        for name, verdict_s in verdicts.items()
        for trial, verdict in enumerate(verdict_s if isinstance(verdict_s, list) else [verdict_s])
    ]
    return trajgrade.evaluate(rows, [judged])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    run_of(PASSED).save("run.json")
    (tmp_path / "labels.csv").write_text(PEOPLE)
    return tmp_path


def test_agreement_is_that_of_the_labels_that_have_a_verdict(folder: Path, command: Command):
    (found,) = json.loads(
        command("judge", "align", "run.json", "--labels", "labels.csv", "--json").out
    )
    assert found["accuracy"]["value"] == pytest.approx(3 / 5)
    assert found["accuracy"]["n"] == 5
    assert found["sensitivity"]["value"] == pytest.approx(2 / 3)
    assert found["specificity"]["value"] == pytest.approx(1 / 2)
    assert [one["id"] for one in found["disagreements"]] == ["c", "e"]
    assert (found["without_verdict"], found["tied"]) == (1, 1)
    assert {(one["label"], one["verdict"]): one["n"] for one in found["confusion"]} == {
        (True, True): 2, (False, True): 1, (False, False): 1, (True, False): 1
    }  # fmt: skip


def test_what_is_printed_says_what_cannot_be_estimated(folder: Path, command: Command):
    done = command("judge", "align", "run.json", "--labels", "labels.csv")
    assert done.code == 0
    assert "not estimated: no example was judged more than once" in done.out
    assert "c: people fail, judge pass: said True" in done.out
    assert "1 labelled examples are tied" in done.out


def test_labels_of_one_class_correct_nothing(folder: Path, command: Command):
    (folder / "one.csv").write_text("id,label\na,pass\nb,pass\n")
    done = command("judge", "align", "run.json", "--labels", "one.csv")
    assert "pass rate, corrected     not estimated: no label is a fail" in done.out


def test_repeats_swapped_orders_and_lengths_are_measured(folder: Path, command: Command):
    run_of({name: [1.0, 1.0, 0.0] for name in "abcdef"}).save("often.json")
    run_of(dict.fromkeys("abcdef", 1.0)).save("first.json")
    run_of({name: float(name in "ab") for name in "abcdef"}).save("second.json")
    lines = [f"{name},pass,{'x' * 10 * n}" for n, name in enumerate("abcdef", 1)]
    (folder / "long.csv").write_text("\n".join(["id,label,response", *lines]))
    labels = ("--labels", "long.csv", "--json")
    (often,) = json.loads(command("judge", "align", "often.json", *labels).out)
    assert often["consistency"]["value"] == pytest.approx(1 / 3)
    (first,) = json.loads(
        command("judge", "align", "first.json", "--swapped", "second.json", *labels).out
    )
    assert first["position_bias"]["value"] == pytest.approx(4 / 6)
    (second,) = json.loads(command("judge", "align", "second.json", *labels).out)
    assert second["length_bias"]["value"] == pytest.approx(0 - 2 / 3)


def test_words_are_labels_too(folder: Path, command: Command):
    run_of({"a": "red", "b": "blue", "c": "red"}).save("words.json")
    (folder / "words.csv").write_text("id,label\na,red\nb,red\nc,red\n")
    (found,) = json.loads(
        command("judge", "align", "words.json", "--labels", "words.csv", "--json").out
    )
    assert found["accuracy"]["value"] == pytest.approx(2 / 3)
    assert "no label" in found["corrected_rate"]["why"]


def test_what_was_measured_stands_beside_the_scores_of_later_runs(folder: Path, command: Command):
    said = [{"id": name, "good": verdict} for name, verdict in PASSED.items()]
    (folder / "said.jsonl").write_text("\n".join(map(json.dumps, said)))
    metric = ("-e", "good=field:path=good")
    command("score", "said.jsonl", *metric, "-o", "said.json", "-q")
    align = ("judge", "align", "said.json", "--labels", "labels.csv", "--save", "good.json")
    assert command(*align).code == 0
    (measured,) = json.loads((folder / "good.json").read_text())["judge_alignment"]
    assert measured["estimates"]["accuracy"]["value"] == pytest.approx(3 / 5)
    done = command("score", "said.jsonl", *metric, "--judge-alignment", "good.json")
    assert done.code == 0
    assert "judge of" in done.out
    assert "0.208 to 0.939" in done.out
    (folder / "eval.yaml").write_text(
        "dataset: said.jsonl\nevaluators: [{name: field, key: good, params: {path: good}}]\n"
        "judge_alignment: {report: good.json}\n"
    )
    told = json.loads(command("run", "eval.yaml", "--json").out)
    assert told["judge_alignment"][0]["estimates"] == measured["estimates"]
    (folder / "good.json").write_text("{}")
    broken = command("validate", "eval.yaml")
    assert broken.code == 2
    assert "`trajgrade judge align … --save FILE` writes one" in broken.err


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("id,lable\na,pass\n", "has no column 'label'"),
        ("id,label,criterion\na,pass,god\n", "Did you mean 'good'"),
        ("id,label,length\na,pass,long\n", "length: no number"),
        ("id,label\n", "holds no label"),
    ],
)
def test_labels_that_cannot_be_read_are_told_of(folder: Path, command: Command, text, told):
    (folder / "wrong.csv").write_text(text)
    done = command("judge", "align", "run.json", "--labels", "wrong.csv")
    assert done.code == 2
    assert told in done.err
