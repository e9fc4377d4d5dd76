import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.dataset_factory import make_dataset
from uavsim.cli import main

Run: TypeAlias = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="session")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dataset(tmp_path_factory.mktemp("strict"), samples=2, drones=2, size_px=(96, 54))


@pytest.fixture
def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(working_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs a command in this process and returns exit code, stdout and stderr."""

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["uavsim", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return int(ended.value.code or 0), printed.out, printed.err

    return run
