"""Kept: a dataset of a store, by its address, as any other dataset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trajgrade.contracts import Store
from trajgrade.dataset import Dataset
from trajgrade.errors import DatasetError
from trajgrade.stores.opening import open_store
from trajgrade.versions import address_of


def kept_dataset(
    address: str, fields: Mapping[str, str | None] | None = None, *, store: Any = None
) -> Dataset:
    """Return the rows of one version of a dataset, all of it or one split.

    Args:
        address: `store:NAME`, `store:NAME@TAG`, `store:NAME@v3/SPLIT`.
        fields: Role to dotted path, for roles that are not under a known name.
        store: Where it is kept: a store or its address.

    Raises:
        DatasetError: There is no such dataset, version, tag or split.
    """
    opened: Store = store if hasattr(store, "create") else open_store(store)
    name, as_of, split = address_of(address)
    version = opened.datasets.version(name, as_of)
    rows = list(opened.datasets.rows(name, version.version, split))
    if split and not rows:
        there = ", ".join(version.splits) or "none"
        raise DatasetError(f"{address}: no row is of the split {split!r}; splits: {there}")
    place = f"store:{name}@v{version.version}{f'/{split}' if split else ''}"
    return Dataset.load(rows, fields, name=place)
