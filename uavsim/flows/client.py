"""The Prefect server that a run speaks to, and the pointing of Prefect's client to it."""

import contextlib
import os
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from uavsim.environment import without_prefect
from uavsim.errors import InputError, SystemFailure
from uavsim.store.journal import redact

RETRIED: Final = 500
"""The answer of a server whose database is gone for a moment; Prefect's client asks again after 502 and 503 alone."""

_DIRECT: Final = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # no proxy reaches this machine's own
_OURS: Final = (
    "PREFECT_SERVER_ANALYTICS_ENABLED",
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL",
)  # set by the command itself
_SERVICES_END_S: Final = 5.0


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
        key: authentication string of a server of our own; "" when the user's own settings are to be used.
    """
    from prefect.settings import (
        PREFECT_API_AUTH_STRING,
        PREFECT_API_KEY,
        PREFECT_API_URL,
        PREFECT_CLIENT_CSRF_SUPPORT_ENABLED,
        PREFECT_CLIENT_CUSTOM_HEADERS,
        PREFECT_CLIENT_RETRY_EXTRA_CODES,
        PREFECT_RESULTS_PERSIST_BY_DEFAULT,
        PREFECT_SERVER_ALLOW_EPHEMERAL_MODE,
        temporary_settings,
    )

    updates: dict[Any, Any] = {
        PREFECT_API_URL: url,
        PREFECT_SERVER_ALLOW_EPHEMERAL_MODE: False,
        PREFECT_RESULTS_PERSIST_BY_DEFAULT: False,
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


def is_healthy(url: str) -> bool:
    """Return whether a server on this machine answers."""
    try:
        with _DIRECT.open(f"{url}/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
