"""A Prefect server of our own: of one run, gone with it; or the account's (``account.py``), which keeps past runs.

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
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final

from uavsim.environment import cache_folder, python_command
from uavsim.errors import StorageError, SystemFailure
from uavsim.files.scratch import scratch_folder
from uavsim.files.whole import replace_bytes
from uavsim.flows.client import is_healthy
from uavsim.supervise.process import GuardedProcess, exit_text

_START_S: Final = 90.0  # until it answers; a second start has twice, a third thrice as long
_POLL_S: Final = 0.1
_PORT_TAKEN: Final = "address already in use"
_MOST_STARTS: Final = 3  # before it answers first
_RESTARTS: Final = 3  # of a server that dies in the middle of a run
_NICENESS: Final = "5"  # simulators and clients go first
_SETTINGS: Final = {
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    "PREFECT_LOGGING_SERVER_LEVEL": "ERROR",
    "PREFECT__SERVER_FINAL": "1",
    # Half of what a task costs: rows of its events, for the page "Events". Task runs are recorded without.
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_ENABLED": "false",
    # What deployments, workers and automations need; these have a server of the user's.
    "PREFECT_API_BLOCKS_REGISTER_ON_START": "false",
    **{
        f"PREFECT_SERVER_SERVICES_{name}_ENABLED": "false"
        for name in (
            "CANCELLATION_CLEANUP",
            "CLEANUP_RECONCILER",
            "FOREMAN",
            "LATE_RUNS",
            "PAUSE_EXPIRATIONS",
            "SCHEDULER",
            "TRIGGERS",
        )
    },
}


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a server of our own.

    Attributes:
        url: of its pages, for a browser.
        key_file: holds its authentication string, which Prefect's pages ask for once and its client sends always.
    """

    url: str
    key_file: Path

    @property
    def key(self) -> str:
        """The authentication string."""
        return self.key_file.read_text("utf-8")

    @property
    def api(self) -> str:
        """Of the API, for Prefect's client."""
        return f"{self.url}/api"


class OwnServer:
    """Starts at once, is waited for later: the simulators can start meanwhile. Use as a context manager.

    It is private: its database, settings and working folder are its own, and it answers those alone who know its key.

    Args:
        home: folder of its database and key, which stay; by default a temporary one.
        port: that its pages are to have, if it is free.
    """

    def __init__(self, *, home: Path | None = None, port: int = 0) -> None:
        self._scratch = contextlib.ExitStack()
        self._home = home or self._scratch.enter_context(scratch_folder("uavsim-prefect-"))
        self._is_kept = home is not None
        self._key_file = _key_in(self._home)
        self._template = cache_folder() / f"prefect-{importlib.metadata.version('prefect')}.db"
        self._fresh = not (self._is_kept and self._database.exists()) and not _copy_whole(
            self._template, self._database
        )
        self._ends = threading.Event()
        self._port, self._starts = _free_port(port), 1
        self._process = self._start()
        self._began = time.monotonic()
        self._keeper = threading.Thread(target=self._keep_up, name="prefect-server", daemon=True)

    def __enter__(self) -> OwnServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ends.set()
        if self._keeper.is_alive():
            self._keeper.join()
        self._process.stop(grace_s=_POLL_S if self._is_kept else 0)
        self._scratch.close()

    def _own_settings(self) -> dict[str, str]:
        """Return what the environment, a profile or a ``prefect.toml`` could say otherwise."""
        database = f"sqlite+aiosqlite:///{self._database}"
        return {
            "PREFECT_HOME": str(self._home),
            "PREFECT_PROFILES_PATH": str(self._home / "profiles.toml"),
            "PREFECT_API_URL": "",
            "PREFECT_SERVER_DATABASE_CONNECTION_URL": database,
            "PREFECT_API_DATABASE_CONNECTION_URL": database,
            # The template is of this version; a database that is kept may be of an older one.
            "PREFECT_SERVER_DATABASE_MIGRATE_ON_START": str(self._fresh or self._is_kept).lower(),
            "PREFECT_SERVER_API_AUTH_STRING": self.address.key,
            "PREFECT_SERVER_API_CORS_ALLOWED_ORIGINS": self.address.url,
            "PREFECT_SERVER_API_CSRF_PROTECTION_ENABLED": "false",
            "PREFECT_SERVER_UI_API_URL": self.address.api,
            # Prefect copies its pages before it serves them: once for a version, not once a run, nor beside its code.
            "PREFECT_SERVER_UI_STATIC_DIRECTORY": str(self._template.with_suffix(".pages")),
        }

    @property
    def _database(self) -> Path:
        return self._home / "prefect.db"

    @property
    def address(self) -> Address:
        """Return where it answers, or will."""
        return Address(f"http://127.0.0.1:{self._port}", self._key_file)

    def wait(self) -> Address:
        """Wait until it answers; returns where.

        Raises:
            SystemFailure: it ended, or does not answer.
        """
        while not is_healthy(self.address.api):
            code, patience_s = self._process.poll(), _START_S * self._starts
            silent = code is None and time.monotonic() - self._began > patience_s
            if code is not None or silent:
                said = self._process.log_tail(lines=1)
                if self._starts == _MOST_STARTS:
                    what = exit_text(code) if code is not None else f"did not answer within {patience_s:g} s"
                    ended = f"the Prefect server of our own {what}, {_MOST_STARTS} times"
                    raise SystemFailure(f"{ended}: {said}" if said.strip() else ended)
                self._process.stop(grace_s=0)
                self._starts += 1
                if _PORT_TAKEN in said:  # a simulator was faster
                    self._port = _free_port()
                self._process, self._began = self._start(), time.monotonic()
            time.sleep(_POLL_S)
        if self._fresh:
            self._keep_template()
        self._keeper.start()
        return self.address

    def _start(self) -> GuardedProcess:
        env: dict[str, str | None] = {name: None for name in os.environ if name.startswith("PREFECT_")}
        env |= _SETTINGS | self._own_settings()
        kind = "account" if self._is_kept else "run"
        app = ("--factory", f"uavsim.flows.app:create_app_of_{kind}", "--log-level", "error", "--lifespan", "on")
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


def _key_in(home: Path) -> Path:
    """Return the file of a home's key; made the first time, readable for the user alone."""
    path = home / "key"
    with (
        contextlib.suppress(FileExistsError),
        os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file,
    ):
        file.write(f"uavsim:{secrets.token_urlsafe(24)}")
    return path


def _free_port(wanted: int = 0) -> int:
    for port in dict.fromkeys((wanted, 0)):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            return int(probe.getsockname()[1])
    raise SystemFailure("this machine has no free port for a Prefect server")


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
