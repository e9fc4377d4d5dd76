"""A stub of ``nvidia-smi``: one card with given free and used memory."""

from pathlib import Path

import pytest

SCRIPT = """#!/bin/sh
case "$*" in
  *memory.used*) echo {used_mb} ;;
  *index,name*) echo "0, Paper 9000, {free_mb}, 580.1" ;;
  *) echo {free_mb} ;;
esac
"""


def fake_cards(folder: Path, monkeypatch: pytest.MonkeyPatch, *, free_mb: int, used_mb: int) -> None:
    """Put the stub first on PATH."""
    tool = folder / "nvidia-smi"
    tool.write_text(SCRIPT.format(free_mb=free_mb, used_mb=used_mb))
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
