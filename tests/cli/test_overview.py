"""The overview of commands, printed without importing them."""

import ast
import subprocess
import sys

HEAVY = ("numba", "scipy", "cv2", "prefect", "pydantic", "numpy")


def imported_by(*arguments: str) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    """Run the command line in a separate process; returns its result and the imported heavy packages."""
    script = f"""
import sys
sys.argv = {["uavsim", *arguments]!r}
from uavsim.cli import main
try:
    main()
finally:
    print([name for name in {HEAVY!r} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    return done, ast.literal_eval(done.stdout.strip().splitlines()[-1])


def test_help_imports_nothing_heavy():
    done, imported = imported_by("--help")
    assert done.returncode == 0, done.stderr
    assert "generate" in done.stdout
    assert imported == []


def test_a_typing_error_does_not_wait_for_prefect(tmp_path):
    done, imported = imported_by("generate", "--dataset", "smok", "--out", str(tmp_path / "out"))
    assert done.returncode == 2, done.stderr
    assert "prefect" not in imported
