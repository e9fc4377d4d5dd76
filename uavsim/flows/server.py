"""The Prefect server of a run: the one of PREFECT_API_URL, or the account's, started by ``uavsim ui``.

The account's server is ``prefect server start`` with documented settings. While it is up, ``uavsim ui`` holds a lock, and the
server's address is beside it, for runs of the account.
"""

import base64
import contextlib
import fcntl
import json
import os
import secrets
import socket
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from uavsim.environment import data_folder, python_command, without_prefect
from uavsim.errors import InputError, SystemFailure
from uavsim.files.whole import make_folders, storage_errors, write_whole
from uavsim.store.journal import redact
from uavsim.supervise.process import GuardedProcess, exit_text

RETRIED: Final = 500
"""Status to retry: a server without its database for a moment; Prefect's client retries only 408, 429, 502 and 503."""

_DIRECT: Final = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # no proxy reaches this machine's own
_OURS: Final = (
    "PREFECT_SERVER_ANALYTICS_ENABLED",
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL",
    "PREFECT_INTERNAL_LOGGING_LEVEL",
)  # set by the command itself
_ANSWER_S: Final = 10.0
_RETRIES: Final = 3  # after 2, 4 and 8 s; then the run continues without the server
_SHOWN_RUNS: Final = 20
_START_S: Final = 180.0
_POLL_S: Final = 0.1
_SETTINGS: Final = {
    "DO_NOT_TRACK": "1",
    "PREFECT_API_URL": "",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_LOGGING_LEVEL": "ERROR",
    "PREFECT_SERVER_REGISTER_BLOCKS_ON_START": "false",
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    # Rows for the page "Events" cost half of a task's time; task runs do not need them.
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_ENABLED": "false",
    # Services of deployments with schedules, workers and automations, which run on a user's server.
    **{
        f"PREFECT_SERVER_SERVICES_{name}_ENABLED": "false"
        for name in ("FOREMAN", "LATE_RUNS", "PAUSE_EXPIRATIONS", "SCHEDULER", "TRIGGERS")
    },
}


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a server that ``prefect_server`` started.

    Attributes:
        url: URL of its pages, for a browser.
        key_file: file with its authentication string, which Prefect's pages request once and its client always sends.
    """

    url: str
    key_file: Path

    @property
    def key(self) -> str:
        """The authentication string."""
        return self.key_file.read_text("utf-8")

    @property
    def api(self) -> str:
        """URL of the API, for Prefect's client."""
        return f"{self.url}/api"


def configured_api_url() -> str | None:
    """Return the server that the user configured (PREFECT_API_URL or a Prefect profile), or None.

    Without one, Prefect's other variables are removed from the environment of this process and its children.

    Raises:
        InputError: Prefect refuses a variable of the environment.
    """
    if _is_unconfigured():
        without_prefect()
        return None
    named = bool(os.environ.get("PREFECT_API_URL"))
    removed = {} if named else without_prefect()
    url = _url_of_settings(removed)
    if url is not None and removed:  # a profile names a server: the user's variables are for it
        os.environ.update(removed)
        url = _url_of_settings(removed)
    return url


def _is_unconfigured() -> bool:
    """Return whether neither environment nor files configure Prefect, without importing it, which takes seconds."""
    if "prefect" in sys.modules or any(name.startswith("PREFECT_") and name not in _OURS for name in os.environ):
        return False  # a program that has imported Prefect may use its own settings
    files = (Path("prefect.toml"), Path(".env"), Path.home() / ".prefect" / "profiles.toml")
    with contextlib.suppress(OSError, UnicodeDecodeError):
        project = Path("pyproject.toml")
        return not any(file.exists() for file in files) and not (
            project.exists() and "tool.prefect" in project.read_text("utf-8")
        )
    return False


def _url_of_settings(removed: dict[str, str]) -> str | None:
    try:
        from prefect.context import refresh_global_settings_context
        from prefect.settings import PREFECT_API_URL

        if removed:
            refresh_global_settings_context()
        value = PREFECT_API_URL.value()
    except Exception as error:
        reason = redact(" ".join(str(error).split()))[:300]
        raise InputError(f"Prefect rejects its environment variables or its profile: {reason}") from error
    return str(value) if value else None


@contextlib.contextmanager
def use_api(url: str, *, key: str = "") -> Iterator[None]:
    """Point Prefect's client to a server.

    Args:
        url: URL of its API.
        key: authentication string of the account's server; "" for the user's own settings.
    """
    from prefect.settings import (
        PREFECT_API_AUTH_STRING,
        PREFECT_API_KEY,
        PREFECT_API_REQUEST_TIMEOUT,
        PREFECT_API_URL,
        PREFECT_CLIENT_CSRF_SUPPORT_ENABLED,
        PREFECT_CLIENT_CUSTOM_HEADERS,
        PREFECT_CLIENT_MAX_RETRIES,
        PREFECT_CLIENT_RETRY_EXTRA_CODES,
        PREFECT_RESULTS_PERSIST_BY_DEFAULT,
        PREFECT_SERVER_ALLOW_EPHEMERAL_MODE,
        temporary_settings,
    )

    updates: dict[Any, Any] = {
        PREFECT_API_URL: url,
        PREFECT_API_REQUEST_TIMEOUT: _ANSWER_S,
        PREFECT_SERVER_ALLOW_EPHEMERAL_MODE: False,
        PREFECT_RESULTS_PERSIST_BY_DEFAULT: False,
        PREFECT_CLIENT_MAX_RETRIES: _RETRIES,
        PREFECT_CLIENT_RETRY_EXTRA_CODES: {*PREFECT_CLIENT_RETRY_EXTRA_CODES.value(), RETRIED},
    }
    if key:
        updates |= {
            PREFECT_API_AUTH_STRING: key,
            PREFECT_API_KEY: None,
            PREFECT_CLIENT_CUSTOM_HEADERS: {},
            PREFECT_CLIENT_CSRF_SUPPORT_ENABLED: False,
        }
    with temporary_settings(updates=updates):
        yield


def check_api(url: str) -> None:
    """Check that the configured server answers.

    Raises:
        SystemFailure: the server does not answer.
    """
    try:
        with _opener(url).open(f"{url.rstrip('/')}/health", timeout=10) as answer:  # http(s) by Prefect's own check
            answer.read()
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise SystemFailure(
            f"cannot reach the Prefect server at {redact(url)}: {reason}; start it, or unset PREFECT_API_URL to run without it"
        ) from error


def is_healthy(url: str, *, timeout_s: float = 5.0) -> bool:
    """Return whether a server answers."""
    try:
        with _opener(url).open(f"{url.rstrip('/')}/health", timeout=timeout_s) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _opener(url: str) -> urllib.request.OpenerDirector:
    is_local = urllib.parse.urlsplit(url).hostname in {"127.0.0.1", "localhost", "::1"}
    return _DIRECT if is_local else urllib.request.build_opener()


def open_runs(address: Address) -> list[str]:
    """Return the names of the running runs of the account's server, the latest first.

    Raises:
        SystemFailure: the server does not answer.
    """
    query = {"state": {"type": {"any_": ["RUNNING"]}}, "parent_task_run_id": {"is_null_": True}}
    key = base64.b64encode(address.key.encode()).decode()
    request = urllib.request.Request(
        f"{address.api}/flow_runs/filter",
        data=json.dumps({"flow_runs": query, "sort": "START_TIME_DESC", "limit": _SHOWN_RUNS}).encode(),
        headers={"Authorization": f"Basic {key}", "Content-Type": "application/json"},
    )
    try:
        with _DIRECT.open(request, timeout=_ANSWER_S) as answer:
            return [str(run["name"]) for run in json.load(answer)]
    except (OSError, ValueError) as error:
        raise SystemFailure(f"the Prefect server at {address.url} does not answer: {error}") from error


def account_folder() -> Path:
    """Return the folder of the account's server: its database, its key, and its address while it is up."""
    return data_folder() / "prefect"


def account_address() -> Address | None:
    """Return the address of the account's server; None when it is not up."""
    home = account_folder()
    with contextlib.suppress(OSError), (home / "lock").open("rb") as lock:
        if not _is_held(lock.fileno()):
            return None
        address = Address((home / "address").read_text("utf-8").strip(), home / "key")
        return address if is_healthy(address.api) else None
    return None


@contextlib.contextmanager
def account_server(*, port: int) -> Iterator[Address]:
    """Run the account's server during the block.

    Args:
        port: port of its pages; a free one if it is taken.

    Raises:
        SystemFailure: the server is up already, or does not start.
        StorageError: the server's folder cannot be written.
    """
    home = account_folder()
    with storage_errors(f"write {home}"):
        make_folders([home])
        home.chmod(0o700)
        lock = os.open(home / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if _is_held(lock, take=True):
            running = account_address()
            at = f"at {running.url} (key {running.key})" if running is not None else "and starts"
            raise SystemFailure(f"uavsim ui is running already {at}; runs of this account use it")
        (home / "address").unlink(missing_ok=True)
        with prefect_server(home, port=port) as address:
            write_whole(home / "address", f"{address.url}\n".encode())
            yield address
    finally:
        os.close(lock)


@contextlib.contextmanager
def prefect_server(home: Path, *, port: int = 0) -> Iterator[Address]:
    """Run ``prefect server start`` on 127.0.0.1 during the block.

    It answers only clients with its key, and ignores settings in this process's environment.

    Args:
        home: Prefect's home folder: database, key, log.
        port: port of its pages; a free one if it is taken.

    Raises:
        SystemFailure: the server does not start.
    """
    key_file, port = _key_file(home), _free_port(port)
    address = Address(f"http://127.0.0.1:{port}", key_file)
    env: dict[str, str | None] = {name: None for name in os.environ if name.startswith("PREFECT_")}
    env |= _SETTINGS | {
        "PREFECT_HOME": str(home),
        "PREFECT_PROFILES_PATH": str(home / "profiles.toml"),
        "PREFECT_SERVER_DATABASE_CONNECTION_URL": f"sqlite+aiosqlite:///{home / 'prefect.db'}",
        "PREFECT_SERVER_API_AUTH_STRING": address.key,
        "PREFECT_SERVER_API_CORS_ALLOWED_ORIGINS": address.url,
        "PREFECT_SERVER_UI_API_URL": address.api,
        "PREFECT_SERVER_UI_STATIC_DIRECTORY": str(home / "pages"),
    }
    command = python_command("prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port))
    with GuardedProcess(command, log=home / "server.log", env=env, cwd=home) as process:
        end = time.monotonic() + _START_S
        while not is_healthy(address.api):
            code = process.poll()
            if code is not None or time.monotonic() > end:
                what = exit_text(code) if code is not None else f"did not answer within {_START_S:g} s"
                raise SystemFailure(f"Prefect's server {what}: {process.log_tail(lines=1)} ({process.log} has more)")
            time.sleep(_POLL_S)
        yield address


def _is_held(lock: int, *, take: bool = False) -> bool:
    """Return whether another process runs the account's server."""
    try:
        fcntl.flock(lock, (fcntl.LOCK_EX if take else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def _key_file(home: Path) -> Path:
    """Return the key file of a server's home; create it the first time, readable only by the user."""
    path = home / "key"
    with (
        contextlib.suppress(FileExistsError),
        os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file,
    ):
        file.write(f"uavsim:{secrets.token_urlsafe(24)}")
    return path


def _free_port(preferred: int) -> int:
    for port in dict.fromkeys((preferred, 0)):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            return int(probe.getsockname()[1])
    raise SystemFailure("this machine has no free port for a Prefect server")
