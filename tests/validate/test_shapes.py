"""Boxes and cameras that cannot be."""

from pathlib import Path

import pytest

from tests.validate.planted import assert_named, planted


@pytest.mark.parametrize("name", planted("shape"))
def test_a_planted_defect_is_named_at_its_place(name: str, clean: Path, tmp_path: Path) -> None:
    assert_named(name, clean, tmp_path)
