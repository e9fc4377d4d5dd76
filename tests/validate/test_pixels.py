"""Boxes that do not lie where their pixels are."""

from pathlib import Path

import pytest

from tests.validate.planted import assert_named, planted


@pytest.mark.parametrize("name", planted("pixels"))
def test_a_planted_defect_is_named_at_its_place(name: str, clean: Path, tmp_path: Path) -> None:
    assert_named(name, clean, tmp_path)
