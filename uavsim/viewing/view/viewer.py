"""Start and end Rerun's viewer, as a window or as a web page on 127.0.0.1."""

import importlib.util
import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from uavsim.environment import install_line
from uavsim.errors import InputError, SystemFailure

_POLL_S: Final = 0.1
_TERMINATE_S: Final = 5.0
_REGULAR_CODES: Final = (0, 130, -2)  # a terminal sends an interrupt to both processes


@dataclass(frozen=True, slots=True)
class Viewer:
    """A running viewer.

    Attributes:
        process: Rerun's process.
        url: address that accepts a recording.
        page: address of the web page; "" for a window.
    """

    process: subprocess.Popen[bytes]
    url: str
    page: str

    def is_open(self) -> bool:
        """Return whether the viewer runs."""
        return self.process.poll() is None

    def wait(self) -> None:
        """Wait until the viewer is closed.

        Raises:
            SystemFailure: the viewer failed.
        """
        code = self.process.wait()
        if code not in _REGULAR_CODES:
            raise SystemFailure(f"Rerun's viewer ended with exit code {code}; see its output above")


def viewer_command(*, web: bool, port: int, web_port: int = 0) -> list[str]:
    """Return the command that runs Rerun's program directly, bound to 127.0.0.1.

    Raises:
        InputError: Rerun's program is not installed.
    """
    spec = importlib.util.find_spec("rerun_cli")
    program = Path(spec.origin).with_name("rerun") if spec is not None and spec.origin else None
    if program is None or not program.is_file():
        raise InputError(f"Rerun's viewer is not installed: {install_line('viewer')}")
    command = [str(program), "--bind", "127.0.0.1", "--port", str(port), "--server-memory-limit", "25%"]
    return command + (["--serve-web", "--web-viewer-port", str(web_port)] if web else ["--expect-data-soon"])


@contextmanager
def open_viewer(*, web: bool, port: int = 9876, web_port: int = 9090) -> Iterator[Viewer]:
    """Yield a viewer that accepts recordings; the end of the context ends it.

    Args:
        web: serve the web page instead of a window.
        port: port of the data with ``web``; a window takes a free one.
        web_port: port of the page.

    Raises:
        InputError: there is no display, or a port is in use.
        SystemFailure: the viewer ended before it accepted connections.
    """
    if not web and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise InputError(
            "no display here: show the recording as a web page with --web, or keep it with --save FILE.rrd"
        )
    ports = (port, web_port) if web else (_free_port(),)
    for number in ports:
        if _answers(number):
            raise InputError(f"port {number} of 127.0.0.1 is taken; choose others with --port and --web-port")
    process = subprocess.Popen(viewer_command(web=web, port=ports[0], web_port=web_port), stdin=subprocess.DEVNULL)
    try:
        while not all(map(_answers, ports)):
            _raise_if_ended(process)
        url = f"rerun+http://127.0.0.1:{ports[0]}/proxy"
        yield Viewer(process, url, f"http://127.0.0.1:{web_port}/?url={url.replace('+', '%2B')}" if web else "")
    finally:
        _end(process)


def _raise_if_ended(process: subprocess.Popen[bytes]) -> None:
    try:
        code = process.wait(_POLL_S)
    except subprocess.TimeoutExpired:
        return
    raise SystemFailure(f"Rerun's viewer ended with exit code {code}; see its output above")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_TERMINATE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
