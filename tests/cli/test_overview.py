"""The overview of the commands, which is shown without importing any of them."""

from __future__ import annotations

import subprocess
import sys

from typer.main import get_command

from uavsim.cli import build_app, build_overview

HEAVY = ("numba", "scipy", "cv2", "prefect", "pydantic", "numpy")


def first_sentences(app) -> dict[str, str]:
    return {
        name: (command.help or "").partition("\n\n")[0] for name, command in vars(get_command(app))["commands"].items()
    }


def test_the_overview_says_what_the_commands_say():
    assert first_sentences(build_overview()) == first_sentences(build_app())


def test_help_imports_nothing_heavy():
    script = f"""
import sys
sys.argv = ["uavsim", "--help"]
from uavsim.cli import main
try:
    main()
finally:
    print([name for name in {HEAVY!r} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "generate" in done.stdout
    assert done.stdout.strip().endswith("[]")
