"""The cache of kernels' machine code."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from uavsim.images import compiled

folder_of_sources = compiled.kernel_folder.__wrapped__
PROGRAM = """
import os
from uavsim.images import compiled
compiled.kernel(lambda: 1)
import numba
print(repr((numba.config.CACHE_DIR, os.environ.get(compiled.CACHE_VARIABLE), str(compiled.kernel_folder()))))
"""


def cache_folders_in(home: Path, **variables: str) -> tuple[str, str | None, str]:
    """Return numba's cache folder in a new process, the variable that its children inherit, and our own folder."""
    env = {name: value for name, value in os.environ.items() if name != compiled.CACHE_VARIABLE}
    env |= {"XDG_CACHE_HOME": str(home)} | variables
    program = home / "program.py"  # numba caches only functions of files
    program.write_text(PROGRAM)
    done = subprocess.run([sys.executable, program], env=env, capture_output=True, text=True, check=True)
    return eval(done.stdout)


def test_kernels_are_cached_per_user_and_children_choose_their_own_folder(tmp_path: Path):
    folder, inherited, own_folder = cache_folders_in(tmp_path)
    assert folder == own_folder
    assert Path(own_folder).parent == tmp_path / "uavsim"
    assert inherited is None


def test_folder_depends_on_kernel_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    before = folder_of_sources()
    (tmp_path / "kernels.py").write_text("from uavsim.images.compiled import kernel")
    monkeypatch.setattr(compiled, "_PACKAGE", tmp_path)
    assert folder_of_sources() != before


def test_numba_cache_dir_of_the_user_is_kept(tmp_path: Path):
    named = str(tmp_path / "own")
    folder, inherited, own_folder = cache_folders_in(tmp_path, **{compiled.CACHE_VARIABLE: named})
    assert (folder, inherited) == (named, named)
    assert not Path(own_folder).exists()


def test_folder_writable_by_others_is_not_used(tmp_path: Path):
    own_folder = Path(cache_folders_in(tmp_path)[2])
    own_folder.chmod(0o777)
    folder, inherited, _ = cache_folders_in(tmp_path)
    assert folder != str(own_folder)
    assert inherited == folder  # a temporary folder that children share
    assert not Path(folder).exists()
