"""A Prefect server for one run, when the user has none: quiet, private, gone with the run.

Prefect's own temporary server waits 20 s at most, which a first start on a slow machine exceeds, outlives a killed parent,
and migrates its database anew each time. Ours runs under the guard, takes its time, and starts from a migrated copy.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import secrets
import shutil
import socket
import sqlite3
import stat
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from uavsim.environment import cache_folder, python_command, without_prefect
from uavsim.errors import InputError, StorageError, SystemFailure
from uavsim.files.whole import replace_bytes
from uavsim.store.journal import redact
from uavsim.supervise.process import GuardedProcess, exit_text

__all__ = ["TemporaryServer", "check_api", "configured_api_url", "use_api"]

_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # no proxy reaches this machine's own addresses
_START_S = 180.0
_POLL_S = 0.1
_SERVICES_END_S = 5.0
_PORT_TAKEN = "address already in use"
_MOST_PORTS = 3
_RESTARTS = 3  # of a server that dies in the middle of a run
_OURS = ("PREFECT_SERVER_ANALYTICS_ENABLED", "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL")  # set by the command itself
_NICENESS = "5"  # simulators and clients go first
_QUIET = {
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_UI_ENABLED": "false",
    "PREFECT_LOGGING_SERVER_LEVEL": "ERROR",
    "PREFECT__SERVER_EPHEMERAL": "1",
    "PREFECT__SERVER_FINAL": "1",
    # What a long-lived server needs and a run of its own has no use for.
    "PREFECT_API_BLOCKS_REGISTER_ON_START": "false",
    "PREFECT_SERVER_SERVICES_SCHEDULER_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_LATE_RUNS_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_TRIGGERS_ENABLED": "false",
}


def configured_api_url() -> str | None:
    """Return the server that the user configured (PREFECT_API_URL or a Prefect profile), or None.

    Without one, whatever else the environment says of Prefect is set aside for this process and its children: a private
    server has settings of its own.

    Raises:
        InputError: Prefect refuses a variable of the environment.
    """
    if _nothing_is_configured():
        without_prefect()
        return None
    named = bool(os.environ.get("PREFECT_API_URL"))
    taken = {} if named else without_prefect()
    url = _url_of_settings(taken)
    if url is not None and taken:  # a profile names a server: the user's variables are for it
        os.environ.update(taken)
        url = _url_of_settings(taken)
    return url


def _nothing_is_configured() -> bool:
    """Report, without importing Prefect (which takes seconds), that neither environment nor files say anything of it."""
    if "prefect" in sys.modules or any(name.startswith("PREFECT_") and name not in _OURS for name in os.environ):
        return False  # a program that has imported it may have settings of its own at work
    files = (Path("prefect.toml"), Path(".env"), Path.home() / ".prefect" / "profiles.toml")
    with contextlib.suppress(OSError, UnicodeDecodeError):
        project = Path("pyproject.toml")
        return not any(file.exists() for file in files) and not (
            project.exists() and "tool.prefect" in project.read_text("utf-8")
        )
    return False


def _url_of_settings(taken: dict[str, str]) -> str | None:
    try:
        from prefect.context import refresh_global_settings_context
        from prefect.settings import PREFECT_API_URL

        if taken:
            refresh_global_settings_context()
        value = PREFECT_API_URL.value()
    except Exception as error:
        said = redact(" ".join(str(error).split()))[:300]
        raise InputError(f"Prefect refuses its variables in the environment or its profile: {said}") from error
    return str(value) if value else None


@contextlib.contextmanager
def use_api(url: str, *, key: str = "") -> Iterator[None]:
    """Point Prefect's client to a server.

    Args:
        url: of its API.
        key: authentication string of a private server, which nobody will read logs of: none are sent there; "" when the
            user's own settings are to be used.
    """
    from prefect.settings import (
        PREFECT_API_AUTH_STRING,
        PREFECT_API_KEY,
        PREFECT_API_URL,
        PREFECT_CLIENT_CSRF_SUPPORT_ENABLED,
        PREFECT_CLIENT_CUSTOM_HEADERS,
        PREFECT_LOGGING_TO_API_ENABLED,
        PREFECT_RESULTS_PERSIST_BY_DEFAULT,
        PREFECT_SERVER_ALLOW_EPHEMERAL_MODE,
        temporary_settings,
    )

    updates: dict[Any, Any] = {
        PREFECT_API_URL: url,
        PREFECT_SERVER_ALLOW_EPHEMERAL_MODE: False,
        PREFECT_RESULTS_PERSIST_BY_DEFAULT: False,
    }
    if key:
        updates |= {
            PREFECT_API_AUTH_STRING: key,
            PREFECT_API_KEY: None,
            PREFECT_CLIENT_CUSTOM_HEADERS: {},
            PREFECT_CLIENT_CSRF_SUPPORT_ENABLED: False,
            PREFECT_LOGGING_TO_API_ENABLED: False,
        }
    with temporary_settings(updates=updates):
        try:
            yield
        finally:
            if key:
                _end_services()


def _end_services() -> None:
    """End Prefect's threads that speak to this server; a later run of this process would wait in them for one that is gone."""
    from prefect.concurrency.services import ConcurrencySlotAcquisitionWithLeaseService
    from prefect.events.worker import EventsWorker

    for service in (ConcurrencySlotAcquisitionWithLeaseService, EventsWorker):
        service.drain_all(timeout=_SERVICES_END_S)


def check_api(url: str) -> None:
    """Make sure that the configured server answers.

    Raises:
        SystemFailure: it does not.
    """
    host = urllib.parse.urlsplit(url).hostname or ""
    opener = _DIRECT if host in {"127.0.0.1", "localhost", "::1"} else urllib.request.build_opener()
    try:
        with opener.open(f"{url.rstrip('/')}/health", timeout=10) as answer:  # http(s) by Prefect's own check
            answer.read()
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise SystemFailure(
            f"tried the Prefect server at {redact(url)}: {reason}; start it, or unset PREFECT_API_URL to run without one"
        ) from error


class TemporaryServer:
    """Starts at once, is waited for later: the simulators can start meanwhile. Use as a context manager.

    It is private: its database, settings and working folder are its own, and it answers those alone who know ``key``.
    """

    def __init__(self) -> None:
        self.key = f"uavsim:{secrets.token_urlsafe(32)}"
        self._home = Path(tempfile.mkdtemp(prefix="uavsim-prefect-"))
        self._template = _template_path()
        self._fresh = not _copy_whole(self._template, self._database)
        self._ends = threading.Event()
        self._port, self._ports_tried = _free_port(), 1
        self._process = self._start()
        self._began = time.monotonic()
        self._keeper = threading.Thread(target=self._keep_up, name="prefect-server", daemon=True)

    def __enter__(self) -> TemporaryServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ends.set()
        if self._keeper.is_alive():
            self._keeper.join()
        self._process.stop(grace_s=0)  # nothing in it is worth keeping
        shutil.rmtree(self._home, ignore_errors=True)

    def _own_settings(self) -> dict[str, str]:
        """Return what the environment, a profile or a ``prefect.toml`` could say otherwise."""
        return {
            "PREFECT_HOME": str(self._home),
            "PREFECT_PROFILES_PATH": str(self._home / "profiles.toml"),
            "PREFECT_API_URL": "",
            "PREFECT_SERVER_DATABASE_CONNECTION_URL": f"sqlite+aiosqlite:///{self._database}",
            "PREFECT_API_DATABASE_CONNECTION_URL": f"sqlite+aiosqlite:///{self._database}",
            "PREFECT_SERVER_API_AUTH_STRING": self.key,
            "PREFECT_SERVER_API_CORS_ALLOWED_ORIGINS": self.url,
            "PREFECT_SERVER_API_CSRF_PROTECTION_ENABLED": "false",
        }

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
                said = self._process.log_tail(lines=1)
                if _PORT_TAKEN not in said or self._ports_tried == _MOST_PORTS:
                    raise SystemFailure(f"the temporary Prefect server {exit_text(code)}: {said}")
                self._port, self._ports_tried = _free_port(), self._ports_tried + 1  # a simulator was faster
                self._process = self._start()
            if time.monotonic() - self._began > _START_S:
                raise SystemFailure(f"the temporary Prefect server did not answer within {_START_S:g} s")
            time.sleep(_POLL_S)
        if self._fresh:
            self._keep_template()
        self._keeper.start()
        return self.url

    def _start(self) -> GuardedProcess:
        env: dict[str, str | None] = {name: None for name in os.environ if name.startswith("PREFECT_")}
        env |= _QUIET | self._own_settings()
        env["PREFECT_SERVER_DATABASE_MIGRATE_ON_START"] = str(self._fresh).lower()  # the template is of this version
        app = ("--factory", "uavsim.flows.private_server:create_app", "--log-level", "error", "--lifespan", "on")
        command = python_command("uvicorn", *app, "--host", "127.0.0.1", "--port", str(self._port))
        return GuardedProcess(
            ["nice", "-n", _NICENESS, *command], log=self._home / "server.log", env=env, cwd=self._home
        )

    def _keep_up(self) -> None:
        """Start the server anew when it dies: its database is there, and Prefect's client asks again for a minute."""
        for _ in range(_RESTARTS):
            while self._process.poll() is None:
                if self._ends.wait(_POLL_S):
                    return
            if self._ends.is_set():
                return
            self._process = self._start()

    def _keep_template(self) -> None:
        """Keep a copy of the migrated database: the next start takes half the time. A cache: failing is no failure."""
        copied = self._home / "template.db"
        with contextlib.suppress(OSError, sqlite3.Error, StorageError):
            with (
                contextlib.closing(sqlite3.connect(self._database)) as source,
                contextlib.closing(sqlite3.connect(copied)) as copy,
            ):
                source.backup(copy)
            replace_bytes(self._template, copied.read_bytes())


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _template_path() -> Path:
    return cache_folder() / f"prefect-{importlib.metadata.version('prefect')}.db"


def _copy_whole(template: Path, database: Path) -> bool:
    """Copy the migrated database; False when there is none, or it is damaged: then the server makes its own."""
    with contextlib.suppress(OSError, sqlite3.Error):
        found = template.lstat()
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid():
            return False
        shutil.copyfile(template, database)
        with contextlib.closing(sqlite3.connect(database)) as copy:
            if copy.execute("PRAGMA quick_check").fetchone() == ("ok",) and _has_tables(copy):
                return True
    database.unlink(missing_ok=True)
    return False


def _has_tables(database: sqlite3.Connection) -> bool:
    names = {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    return {"flow_run", "task_run", "alembic_version"} <= names


def _healthy(url: str) -> bool:
    try:
        with _DIRECT.open(f"{url}/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
