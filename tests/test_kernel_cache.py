import os
import stat
import tempfile
from pathlib import Path

import pytest

from uavsim import kernel_cache


def test_a_user_without_a_home_keeps_machine_code_in_a_temporary_folder_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").write_text("no folder can be made here")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    own = tmp_path / f"uavsim-{os.getuid()}"

    found = kernel_cache.account_folder.__wrapped__()

    assert found is not None
    assert found.parent.parent == own
    assert stat.S_IMODE(own.stat().st_mode) == 0o700

    own.chmod(0o777)  # as one that somebody else put there first
    assert kernel_cache.account_folder.__wrapped__() is None


def test_code_of_a_module_that_was_moved_is_compiled_anew(tmp_path: Path) -> None:
    kept = kernel_cache._Checked(str(tmp_path), "kernel", (0.0, 0))
    code = b"cuavsim.no_such_module\nkernel\n."  # a pickle that imports it
    (tmp_path / "one.nbc").write_bytes(kernel_cache._digest(code) + code)
    with pytest.raises(OSError, match="moved"):
        kept._load_data("one.nbc")


def test_code_of_a_level_is_for_processors_that_have_all_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (level, features), *_ = kernel_cache.LEVELS.items()
    has = dict.fromkeys(features.replace("+", "").split(","), True)
    monkeypatch.setattr(kernel_cache, "shipped_folder", lambda _: tmp_path)

    monkeypatch.setattr(kernel_cache, "get_host_cpu_features", lambda: {**has, "amx-tile": True})
    assert kernel_cache.shipped_folders.__wrapped__() == {level: tmp_path}
    monkeypatch.setattr(kernel_cache, "get_host_cpu_features", lambda: {**has, "avx2": False})
    assert kernel_cache.shipped_folders.__wrapped__() == {}


def test_code_of_a_level_is_not_what_a_variable_of_numba_asks_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_cache, "shipped_folder", lambda _: tmp_path)
    monkeypatch.setenv("NUMBA_OPT", "2")
    assert kernel_cache.shipped_folders.__wrapped__() == {}
