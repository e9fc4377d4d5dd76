"""Temporary folders of killed processes are removed; those of living processes and of other users stay."""

import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import uavsim
from uavsim.files.scratch import scratch_folder

HOLDS = """
import sys, time
from uavsim.files.scratch import scratch_folder
with scratch_folder("uavsim-run-") as folder:
    (folder / "x").write_text("x")
    print(folder, flush=True)
    time.sleep(600)
"""


def test_folder_of_a_killed_process_is_removed_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "uavsim-run-link").symlink_to(tmp_path)
    with subprocess.Popen([sys.executable, "-c", HOLDS], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        abandoned = Path(process.stdout.readline().strip())
        os.utime(abandoned, (1.0, 1.0))
        with scratch_folder("uavsim-run-"):
            assert (abandoned / "x").exists()  # it lives
        process.send_signal(signal.SIGKILL)
    os.utime(abandoned, (1.0, 1.0))
    with scratch_folder("uavsim-run-") as new_folder:
        assert not abandoned.exists()
        assert new_folder.is_dir()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["uavsim-run-link"]


def test_folder_that_is_being_created_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "uavsim-run-young").mkdir()
    with scratch_folder("uavsim-run-"):
        assert (tmp_path / "uavsim-run-young").is_dir()


def test_only_scratch_makes_temporary_folders() -> None:
    """The devkit's folder is exempt, because it has a separate environment."""
    of_others = {"devkit_check.py", "devkit_score.py", "scratch.py"}
    root = Path(uavsim.__file__).parents[1]
    sources = [*(root / "uavsim").rglob("*.py"), *(root / "packages").glob("*/src/uavsim_*/**/*.py")]
    found = {p.name for p in sources if re.search(r"TemporaryDirectory|mkdtemp", p.read_text())}
    assert len(sources) > 500
    assert found <= of_others
