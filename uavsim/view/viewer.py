"""Start Rerun's own viewer on a recording: its window, or its web page on this machine alone."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Final

from uavsim.environment import python_command
from uavsim.errors import InputError, SystemFailure

__all__ = ["serve_recording", "show_recording", "viewer_command"]

_LOOK_S: Final = 0.1


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


def serve_recording(path: Path, *, port: int, web_port: int, listening: Callable[[], None] = lambda: None) -> None:
    """Serve the viewer's web page on 127.0.0.1 until Ctrl-C.

    Args:
        path: of the recording.
        port: of the data.
        web_port: of the page.
        listening: called once, when the page can be opened.

    Raises:
        InputError: something else answers at one of the ports.
        SystemFailure: the server failed.
    """
    for taken in (port, web_port):
        if _answers(taken):
            raise InputError(f"port {taken} of 127.0.0.1 is taken; choose others with --port and --web-port")
    _run(viewer_command(path, web=True, port=port, web_port=web_port), ports=(port, web_port), listening=listening)


def _run(command: list[str], *, ports: tuple[int, ...] = (), listening: Callable[[], None] = lambda: None) -> None:
    process = subprocess.Popen(command)
    try:
        while ports and process.poll() is None:
            if all(_answers(port) for port in ports):
                listening()
                break
            try:
                process.wait(_LOOK_S)
            except subprocess.TimeoutExpired:
                continue
        code = process.wait()
    finally:
        if process.poll() is None:  # an interrupt that the viewer did not see
            process.terminate()
            process.wait()
    if code not in {0, 130, -2}:
        raise SystemFailure(f"Rerun's viewer ended with {code}; what it printed above says why")


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
