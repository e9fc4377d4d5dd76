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
