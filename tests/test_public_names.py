"""The public names of ``uavsim``: all exist, are documented, and need no heavy import."""

import subprocess
import sys
from pathlib import Path

import uavsim

PAGE = Path(__file__).parents[1] / "docs/python.md"


def test_every_public_name_is_there_and_has_a_docstring() -> None:
    assert uavsim.__all__ == sorted(uavsim.__all__, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    for name in uavsim.__all__:
        assert getattr(uavsim, name).__doc__
    assert set(uavsim.__all__) <= set(dir(uavsim))


def test_every_public_name_is_on_the_page() -> None:
    text = PAGE.read_text("utf-8")
    assert [name for name in uavsim.__all__ if f"`{name}`" not in text and f"uavsim.{name}" not in text] == []


def test_importing_uavsim_imports_nothing_else() -> None:
    script = (
        "import sys; import uavsim; print(sorted(m for m in ('numpy', 'prefect', 'torch', 'cv2') if m in sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
