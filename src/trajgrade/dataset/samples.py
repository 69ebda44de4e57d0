"""The bundled datasets, by name: `sample:NAME` wherever a dataset is named."""

from __future__ import annotations

from pathlib import Path

from trajgrade.errors import UnknownNameError

SAMPLE = "sample:"
_FOLDER = Path(__file__).parent.parent / "samples"


def list_samples() -> list[str]:
    """Return the names of the bundled datasets."""
    return sorted(path.stem for path in _FOLDER.glob("*.json"))


def sample_path(name: str) -> Path:
    """Return the file of a bundled dataset.

    Raises:
        UnknownNameError: There is no sample of that name.
    """
    names = list_samples()
    if name not in names:
        raise UnknownNameError("sample", name, names)
    return _FOLDER / f"{name}.json"
