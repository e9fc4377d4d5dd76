"""Where machine code of kernels is kept."""

import os
from pathlib import Path

import pytest

from uavsim.images import compiled

folder_of_sources = compiled.kernel_folder.__wrapped__


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv(compiled.CACHE_VARIABLE, "")  # so that it is as before afterwards, whoever sets it
    monkeypatch.delenv(compiled.CACHE_VARIABLE)
    folder = folder_of_sources()
    monkeypatch.setattr(compiled, "kernel_folder", lambda: folder)
    return folder


def test_a_kernel_is_kept_in_the_users_cache(folder: Path, tmp_path: Path):
    assert folder.parent == tmp_path / "uavsim"
    compiled.kernel(lambda: 1)
    assert os.environ[compiled.CACHE_VARIABLE] == str(folder)


def test_the_folder_is_another_for_other_sources(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "kernels.py").write_text("from uavsim.images.compiled import kernel")
    monkeypatch.setattr(compiled, "_PACKAGE", tmp_path)
    assert folder_of_sources() != folder


def test_the_users_own_setting_stays(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(compiled.CACHE_VARIABLE, str(tmp_path / "own"))
    compiled.kernel(lambda: 1)
    assert os.environ[compiled.CACHE_VARIABLE] == str(tmp_path / "own")
    assert not folder.exists()


def test_a_folder_that_others_can_write_is_not_used(folder: Path):
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    compiled.kernel(lambda: 1)
    assert compiled.CACHE_VARIABLE not in os.environ
