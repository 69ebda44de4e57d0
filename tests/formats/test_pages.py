"""docs/formats says what the formats' docstrings say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.formats.pages import FAMILIES, FOLDER, pages
from trajgrade.formats import BUILTINS


def test_every_format_has_its_place_in_one_family():
    assert sorted(name for _, names in FAMILIES.values() for name in names) == sorted(BUILTINS)


@pytest.mark.parametrize(("path", "page"), [pytest.param(*one, id=one[0].stem) for one in pages()])
def test_a_page_of_the_formats_is_up_to_date(path: Path, page: str):
    assert path.read_text(encoding="utf-8") == page, "write it: python -m tests.formats.pages"


def test_no_page_of_the_formats_is_left_over():
    assert {path.name for path in FOLDER.iterdir()} == {path.name for path, _ in pages()}
