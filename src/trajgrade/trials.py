"""Trials: each example several times, one after the other, numbered from 0."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from trajgrade.dataset.example import Example
from trajgrade.errors import ConfigError, DatasetError, shorten


def check_trials(trials: int) -> None:
    """Refuse what is no number of trials.

    Raises:
        ConfigError: It is not a whole number from 1.
    """
    if isinstance(trials, bool) or not isinstance(trials, int) or trials < 1:
        raise ConfigError(f"trials: expected a whole number from 1, got {shorten(trials)}")


def repeated(examples: Iterable[Example], trials: int) -> Iterator[Example]:
    """Yield each example so many times; one trial is the example as it is.

    Raises:
        DatasetError: An example is a trial already.
    """
    for example in examples:
        if trials == 1:
            yield example
            continue
        if example.trial is not None:
            raise DatasetError(
                f"{example.source or example.id} is trial {example.trial} of {example.id!r} "
                f"already, and cannot be asked {trials} times; leave out trials, or the field with "
                "fields: {trial: null}"
            )
        for trial in range(trials):
            yield msgspec.structs.replace(example, trial=trial)
