"""Every trial is listed by its docstring and started by its ``main``."""

import re
import subprocess
from pathlib import Path

import pytest

from tools.common import ROOT
from tools.trials.__main__ import summaries

TRIALS = summaries()


@pytest.mark.parametrize("name", TRIALS)
def test_a_trial_names_itself_and_has_a_main(name: str) -> None:
    text = (ROOT / "tools/trials" / f"{name.replace('-', '_')}.py").read_text()
    assert f"scripts/trial {name}" in text
    assert re.search(r"^def main\(", text, re.MULTILINE)


def test_a_name_that_is_none_is_answered_with_the_nearest(tmp_path: Path) -> None:
    done = subprocess.run([ROOT / "scripts/trial", "kil"], cwd=tmp_path, text=True, capture_output=True)
    assert (done.returncode, done.stderr) == (1, "error: no trial kil; did you mean kill?\n")
