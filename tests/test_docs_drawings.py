"""The drawings of the pages are up to date with the transforms."""

import re
from pathlib import Path

import numpy as np
import pytest

from tools.drawings.frames import DRAWINGS, draw_all

DOCS = Path(__file__).parents[1] / "docs"
NUMBER = re.compile(r"-?\d+\.\d+")
NAME = re.compile(r"\b[mp][0-9a-f]{10}\b")  # of a shape: a hash of its unrounded numbers


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("drawn")
    draw_all(folder)
    return folder


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_drawing_is_up_to_date(name: str, drawn: Path) -> None:
    """The last of six digits may differ, because processors round sines and roots differently."""
    new, stored = (NAME.sub("name", (folder / name).read_text("utf-8")) for folder in (drawn, DOCS))
    assert NUMBER.sub("#", new) == NUMBER.sub("#", stored), "run: python -m tools.drawings.frames"
    drawn_px, stored_px = (np.array(NUMBER.findall(text), float) for text in (new, stored))
    np.testing.assert_allclose(drawn_px, stored_px, rtol=0, atol=1e-5)


def test_every_drawing_is_shown() -> None:
    text = (DOCS / "frames.md").read_text("utf-8")
    assert [name for name in DRAWINGS if f"]({name})" not in text] == []
