"""Aligning: people's labels and a judged run → what the judge's verdicts are worth.

Labels are the rows of a CSV file:

    id        the example
    label     what a person said: pass or fail (true/false, yes/no, 1/0), a word, or a number
    criterion the metric that it is about; left out where there is one
    response  what was judged, or `length`, its length; for the length bias, may be left out

Several labels of one example and criterion become the majority's; where they tie there is none. A
verdict is a result's own value where that is true, false or a word; else whether its score is at
least `passes`. Rows of one example are repeats of its verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from trajgrade import agreement
from trajgrade.agreement import Estimate, Rates
from trajgrade.curation import consensus
from trajgrade.dataset.csvtext import records
from trajgrade.errors import ConfigError, DatasetError, unknown
from trajgrade.intervals import LEVEL
from trajgrade.run import Row, Run
from trajgrade.summary import TOLERANCE

PASSES = 0.5
COLUMNS = ("id", "label", "criterion", "response", "length")
_WORDS = {
    "true": True, "yes": True, "pass": True, "passed": True, "1": True, "1.0": True,
    "false": False, "no": False, "fail": False, "failed": False, "0": False, "0.0": False,
}  # fmt: skip


class Label(NamedTuple):
    """What one person said of one example.

    Attributes:
        id: The example.
        label: What was said; a number is a pass where it is at least `passes`.
        criterion: The metric that it is about; empty where there is one only.
        length: How long what was judged is.
    """

    id: str
    label: Any
    criterion: str = ""
    length: float | None = None


class Disagreement(NamedTuple):
    """One example on which judge and people differ."""

    id: str
    criterion: str
    label: Any
    verdict: Any
    comment: str


class Criterion(NamedTuple):
    """How far a judge agrees with people by one metric.

    Attributes:
        key: The metric.
        accuracy: The share of labels that the verdict is.
        kappa: Cohen's kappa.
        confusion: How often people's label and the judge's verdict come together.
        rates: Sensitivity and specificity, where labels are passes and failures.
        consistency: How far repeats of a verdict agree.
        length_bias: How much more long answers pass than people pass them.
        position_bias: How much oftener standing first wins; where a swapped run is there.
        judged_rate: The share of the run's rows that the judge passes.
        corrected_rate: The share that people would have passed.
        unlabelled: Labelled examples that the run has no verdict of.
        tied: Examples whose labels have no majority.
        disagreements: Where they differ.
    """

    key: str
    accuracy: Estimate
    kappa: Estimate
    confusion: dict[tuple[Any, Any], int]
    rates: Rates
    consistency: Estimate
    length_bias: Estimate
    position_bias: Estimate
    judged_rate: Estimate
    corrected_rate: Estimate
    unlabelled: int
    tied: int
    disagreements: list[Disagreement]

    @property
    def numbers(self) -> dict[str, Estimate]:
        """All estimates, by name."""
        return {
            "accuracy": self.accuracy,
            "kappa": self.kappa,
            "sensitivity": self.rates.sensitivity,
            "specificity": self.rates.specificity,
            "consistency": self.consistency,
            "length_bias": self.length_bias,
            "position_bias": self.position_bias,
            "judged_rate": self.judged_rate,
            "corrected_rate": self.corrected_rate,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain objects."""
        return {
            "criterion": self.key,
            **{name: estimate.to_dict() for name, estimate in self.numbers.items()},
            "confusion": [
                {"label": label, "verdict": verdict, "n": n}
                for (label, verdict), n in self.confusion.items()
            ],
            "without_verdict": self.unlabelled,
            "tied": self.tied,
            "disagreements": [one._asdict() for one in self.disagreements],
        }


def read_labels(path: str | Path) -> list[Label]:
    """Read people's labels from a CSV file.

    Raises:
        DatasetError: It cannot be read, or lacks a column.
    """
    found: list[Label] = []
    for place, record in records(Path(path)):
        for column in ("id", "label"):
            if column not in record:
                raise DatasetError(f"{path}: has no column {column!r}: {unknown_column(record)}")
        if record["id"] is None or record["label"] is None:
            continue
        length = record.get("length")
        response = record.get("response")
        try:
            long = float(length) if length else len(response) if response else None
        except ValueError:
            raise DatasetError(f"{path} line {place}: length: no number: {length!r}") from None
        found.append(Label(record["id"], record["label"], record.get("criterion") or "", long))
    if not found:
        raise DatasetError(f"{path}: holds no label")
    return found


def unknown_column(record: Mapping[str, Any]) -> str:
    """Say which columns there are, and which are looked for."""
    return f"there are {', '.join(record)}; known are {', '.join(COLUMNS)}"


def align(
    run: Run,
    labels: Iterable[Label],
    *,
    metrics: Sequence[str] = (),
    swapped: Run | None = None,
    apply_to: Run | None = None,
    passes: float = PASSES,
    level: float = LEVEL,
) -> list[Criterion]:
    """Say how far a judge agrees with people, by each criterion.

    Args:
        run: A run with the judge's verdicts of the labelled examples.
        labels: What people said.
        metrics: The judge's metrics; by default those that the labels name, or the only one.
        swapped: The same run with the two responses of each pair in the other order.
        apply_to: A run whose pass rate is corrected; by default the rows of `run`.
        passes: The least score that is a pass.
        level: The confidence of intervals.

    Raises:
        ConfigError: A criterion is no metric of the run, or it is not said which is meant.
    """
    by_criterion: dict[str, list[Label]] = {}
    for label in labels:
        by_criterion.setdefault(label.criterion, []).append(label)
    keys = _keys(run, by_criterion, metrics)
    return [
        _aligned(
            key,
            [*by_criterion.get(key, []), *by_criterion.get("", [])],
            run, swapped, apply_to or run, passes, level,
        )
        for key in keys
    ]  # fmt: skip


def _keys(run: Run, by_criterion: Mapping[str, Any], metrics: Sequence[str]) -> list[str]:
    keys = list(metrics) or [key for key in by_criterion if key]
    known = [*run.summary]
    if not keys:
        if len(known) != 1:
            raise ConfigError(f"which metric are the labels of? Known: {', '.join(known)}")
        return known
    faults = [f"criterion: {unknown('metric', key, known)}" for key in keys if key not in known]
    if faults:
        raise ConfigError(*faults)
    return keys


def _aligned(
    key: str,
    labels: Sequence[Label],
    run: Run,
    swapped: Run | None,
    target: Run,
    passes: float,
    level: float,
) -> Criterion:
    given: dict[str, list[Any]] = {}
    lengths: dict[str, float] = {}
    for label in labels:
        given.setdefault(label.id, []).append(_meant(label.label, passes))
        if label.length is not None:
            lengths[label.id] = label.length
    agreed = {name: consensus(said).value for name, said in given.items()}
    verdicts, comments = verdicts_of(run, key, passes)
    pairs: list[tuple[Hashable, Hashable]] = []
    sized: list[tuple[bool, bool, float]] = []
    differing: list[Disagreement] = []
    for name, label in agreed.items():
        if label is None or name not in verdicts:
            continue
        verdict = verdicts[name][0]
        pairs.append((label, verdict))
        if label != verdict:
            differing.append(Disagreement(name, key, label, verdict, comments[name]))
        if name in lengths and isinstance(label, bool) and isinstance(verdict, bool):
            sized.append((label, verdict, lengths[name]))
    every, _ = verdicts_of(target, key, passes)
    firsts = [found[0] for found in every.values()]
    passed = sum(verdict is True for verdict in firsts)
    return Criterion(
        key,
        agreement.accuracy(pairs, level),
        agreement.kappa(pairs, level),
        dict(sorted(Counter(pairs).items(), key=lambda item: str(item[0]))),
        agreement.rates(pairs, level),
        agreement.consistency([*verdicts.values()], level),
        agreement.length_bias(sized, level),
        agreement.position_bias(_orders(run, swapped, key), level),
        agreement.share(passed, len(firsts), level=level),
        agreement.corrected(passed, len(firsts), pairs, level),
        sum(label is not None and name not in verdicts for name, label in agreed.items()),
        sum(label is None for label in agreed.values()),
        differing,
    )


def _meant(label: Any, passes: float) -> Any:
    if isinstance(label, bool):
        return label
    if isinstance(label, int | float):
        return label >= passes - TOLERANCE
    text = str(label).strip()
    if text.casefold() in _WORDS:
        return _WORDS[text.casefold()]
    try:
        return float(text) >= passes - TOLERANCE
    except ValueError:
        return text


def verdicts_of(
    run: Run, key: str, passes: float
) -> tuple[dict[str, list[Hashable]], dict[str, str]]:
    """Return each example's verdicts, and what was said with the first."""
    found: dict[str, list[Hashable]] = {}
    comments: dict[str, str] = {}
    for row in run.rows:
        result = row.results.get(key)
        if result is None or result.score is None:
            continue
        own = isinstance(result.value, bool | str)
        verdict = _meant(result.value if own else result.score, passes)
        found.setdefault(row.id, []).append(verdict)
        comments.setdefault(row.id, result.comment)
    return found, comments


def _orders(run: Run, swapped: Run | None, key: str) -> list[tuple[float, float]]:
    if swapped is None:
        return []
    first, second = ({row.id: _score(row, key) for row in one.rows} for one in (run, swapped))
    return [
        (before, after)
        for name, before in first.items()
        if before is not None and (after := second.get(name)) is not None
    ]


def _score(row: Row, key: str) -> float | None:
    result = row.results.get(key)
    return None if result is None else result.score
