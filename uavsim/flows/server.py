"""A Prefect server for one run, when the user has none: quiet, private, gone with the run.

Prefect's own temporary server waits 20 s at most, which a first start on a slow machine exceeds, outlives a killed parent,
and migrates its database anew each time. Ours runs under the guard, takes its time, and starts from a migrated copy.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import sqlite3
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from uavsim.errors import SystemFailure
from uavsim.supervise.process import GuardedProcess, exit_text, python_command

__all__ = ["TemporaryServer", "check_api", "configured_api_url", "use_api"]

_START_S = 180.0
_POLL_S = 0.1
_QUIET = {
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_UI_ENABLED": "false",
    "PREFECT_LOGGING_SERVER_LEVEL": "ERROR",
    "PREFECT__SERVER_EPHEMERAL": "1",
    "PREFECT__SERVER_FINAL": "1",
    # Services of a long-lived server that a run of its own has no use for.
    "PREFECT_SERVER_SERVICES_SCHEDULER_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_LATE_RUNS_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_TRIGGERS_ENABLED": "false",
}


def configured_api_url() -> str | None:
    """Return the server that the user configured (PREFECT_API_URL or a Prefect profile), or None."""
    from prefect.settings import PREFECT_API_URL

    value = PREFECT_API_URL.value()
    return str(value) if value else None


@contextlib.contextmanager
def use_api(url: str, *, temporary: bool) -> Iterator[None]:
    """Point Prefect's client to a server; nobody will read the logs of a temporary one, so none are sent there."""
    from prefect.settings import (
        PREFECT_API_URL,
        PREFECT_LOGGING_TO_API_ENABLED,
        PREFECT_RESULTS_PERSIST_BY_DEFAULT,
        PREFECT_SERVER_ALLOW_EPHEMERAL_MODE,
        temporary_settings,
    )

    updates = {
        PREFECT_API_URL: url,
        PREFECT_SERVER_ALLOW_EPHEMERAL_MODE: False,
        PREFECT_RESULTS_PERSIST_BY_DEFAULT: False,
        PREFECT_LOGGING_TO_API_ENABLED: not temporary,
    }
    with temporary_settings(updates=updates):
        yield


def check_api(url: str) -> None:
    """Make sure that the configured server answers.

    Raises:
        SystemFailure: it does not.
    """
    try:
        with urllib.request.urlopen(
            f"{url.rstrip('/')}/health", timeout=10
        ) as answer:  # http(s) by Prefect's own check
            answer.read()
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise SystemFailure(
            f"tried the Prefect server at {url}: {reason}; start it, or unset PREFECT_API_URL to run without one"
        ) from error


class TemporaryServer:
    """Starts at once, is waited for later: the simulators can start meanwhile. Use as a context manager."""

    def __init__(self) -> None:
        self._home = Path(tempfile.mkdtemp(prefix="uavsim-prefect-"))
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = int(probe.getsockname()[1])
        self._template = _template_path()
        self._fresh = not self._template.exists()
        if not self._fresh:
            shutil.copyfile(self._template, self._database)
        app = ("--factory", "prefect.server.api.server:create_app", "--log-level", "error", "--lifespan", "on")
        command = python_command("uvicorn", *app, "--host", "127.0.0.1", "--port", str(self._port))
        env = {**_QUIET, "PREFECT_HOME": str(self._home), "PREFECT_API_URL": ""}
        self._process = GuardedProcess(command, log=self._home / "server.log", env=env)
        self._began = time.monotonic()

    def __enter__(self) -> TemporaryServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.stop(grace_s=0)  # nothing in it is worth keeping
        shutil.rmtree(self._home, ignore_errors=True)

    @property
    def _database(self) -> Path:
        return self._home / "prefect.db"

    @property
    def url(self) -> str:
        """The API's address."""
        return f"http://127.0.0.1:{self._port}/api"

    def wait(self) -> str:
        """Wait until it answers; returns its address.

        Raises:
            SystemFailure: it ended, or does not answer.
        """
        while not _healthy(self.url):
            code = self._process.poll()
            if code is not None:
                raise SystemFailure(
                    f"the temporary Prefect server {exit_text(code)}: {self._process.log_tail(lines=1)}"
                )
            if time.monotonic() - self._began > _START_S:
                raise SystemFailure(f"the temporary Prefect server did not answer within {_START_S:g} s")
            time.sleep(_POLL_S)
        if self._fresh:
            self._keep_template()
        return self.url

    def _keep_template(self) -> None:
        """Keep a copy of the migrated database: the next start takes half the time. A cache: failing is no failure."""
        with contextlib.suppress(OSError, sqlite3.Error):
            self._template.parent.mkdir(parents=True, exist_ok=True)
            temp = self._template.with_suffix(f".{os.getpid()}.tmp")
            with (
                contextlib.closing(sqlite3.connect(self._database)) as source,
                contextlib.closing(sqlite3.connect(temp)) as copy,
            ):
                source.backup(copy)
            temp.rename(self._template)


def _template_path() -> Path:
    import prefect

    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "uavsim" / f"prefect-{prefect.__version__}.db"


def _healthy(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
