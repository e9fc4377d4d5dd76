"""Start Rerun's own viewer on a recording: its window, or its web page on this machine alone."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from uavsim.environment import python_command
from uavsim.errors import InputError, SystemFailure

__all__ = ["serve_recording", "show_recording", "viewer_command"]


def viewer_command(path: Path, *, web: bool, port: int = 9876, web_port: int = 9090) -> list[str]:
    """Return the command that shows a recording; ``web`` listens on 127.0.0.1 only."""
    command = python_command("rerun", str(path))
    if web:
        command += ["--serve-web", "--bind", "127.0.0.1", "--port", str(port), "--web-viewer-port", str(web_port)]
    return command


def show_recording(path: Path) -> None:
    """Open the viewer's window and wait until it is closed.

    Raises:
        InputError: there is no display.
        SystemFailure: the viewer failed.
    """
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise InputError(
            "no display here: show the recording as a web page with --web, or keep it with --save FILE.rrd"
        )
    _run(viewer_command(path, web=False))


def serve_recording(path: Path, *, port: int, web_port: int) -> None:
    """Serve the viewer's web page on 127.0.0.1 until Ctrl-C.

    Raises:
        SystemFailure: the server failed; its ports may be taken.
    """
    _run(viewer_command(path, web=True, port=port, web_port=web_port))


def _run(command: list[str]) -> None:
    code = subprocess.run(command, check=False).returncode
    if code not in {0, 130, -2}:
        raise SystemFailure(f"Rerun's viewer ended with {code}; what it printed above says why")
