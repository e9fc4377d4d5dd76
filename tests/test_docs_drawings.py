"""The drawings of the pages are those that the transforms give today."""

from pathlib import Path

import pytest

from tools.drawings.frames import DRAWINGS, draw_all

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("drawn")
    draw_all(folder)
    return folder


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_drawing_is_up_to_date(name: str, drawn: Path) -> None:
    assert (drawn / name).read_bytes() == (DOCS / name).read_bytes(), "run: python -m tools.drawings.frames"


def test_every_drawing_is_shown() -> None:
    text = (DOCS / "frames.md").read_text("utf-8")
    assert [name for name in DRAWINGS if f"]({name})" not in text] == []
