"""Which rows are graded."""

import pytest

from trajgrade.dataset import Dataset, Selected
from trajgrade.errors import ConfigError, DatasetError

ROWS = [{"id": name} for name in ("Alpha", "beta", "beta-2", "x[1]")]


def chosen(select: Selected) -> list[str]:
    dataset = Dataset.load(ROWS)
    select.check(dataset)
    return [example.id for example in select.of(dataset)]


@pytest.mark.parametrize(
    ("select", "names"),
    [
        (Selected(), ["Alpha", "beta", "beta-2", "x[1]"]),
        (Selected(matching="ALPHA"), ["Alpha"]),
        (Selected(matching="beta"), ["beta", "beta-2"]),
        (Selected(matching="beta?2"), ["beta-2"]),
        (Selected(matching="*a"), ["Alpha", "beta"]),
        (Selected(ids=frozenset({"beta", "Alpha"})), ["Alpha", "beta"]),
        (Selected(ids=frozenset({"x[1]"})), ["x[1]"]),
        (Selected(limit=2), ["Alpha", "beta"]),
        (Selected(matching="beta", limit=1), ["beta"]),
        (Selected(ids=frozenset({"beta", "Alpha"}), matching="b"), ["beta"]),
    ],
)
def test_rows_are_selected(select: Selected, names: list[str]):
    assert chosen(select) == names


@pytest.mark.parametrize(
    ("select", "said"),
    [
        (Selected(ids=frozenset({"bet"})), "dataset has no example 'bet'; did you mean 'beta'"),
        (Selected(ids=frozenset({"a", "b"})), "no example 'a'.*\n.*no example 'b'"),
        (Selected(matching="gamma"), "no example whose id matches 'gamma'; first: Alpha, beta"),
        (Selected(ids=frozenset({"Alpha"}), matching="beta"), "whose id matches 'beta'"),
    ],
)
def test_a_selection_of_nothing_is_refused(select: Selected, said: str):
    with pytest.raises(DatasetError, match=said):
        chosen(select)


def test_a_limit_below_one_is_refused():
    with pytest.raises(ConfigError, match="limit: at least one row is needed, got 0"):
        chosen(Selected(limit=0))
