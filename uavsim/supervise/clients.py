"""Check that an interpreter has the clients of a backend."""

import importlib.util
import json
import subprocess
import sys

from uavsim.config.backends import AIRSIM, CARLA, Backend, Server
from uavsim.environment import pip_install, setup_line
from uavsim.errors import InputError

_ASK = "import importlib.util as u, json, sys; print(json.dumps([m for m in sys.argv[1:] if u.find_spec(m) is None]))"
_ASK_S = 60.0


def check_clients(backend: Backend, *, python: str = "") -> None:
    """Check that every client of a backend is installed, without importing it.

    Args:
        backend: the backend.
        python: the interpreter of the client process; empty: this one.

    Raises:
        InputError: a client is not installed, or the interpreter does not exist.
    """
    python = python or sys.executable
    modules = [module for server in backend.servers for module in server.clients]
    if python == sys.executable:
        missing = [module for module in modules if importlib.util.find_spec(module) is None]
    else:
        missing = _missing_in(python, [*modules, "uavsim"])
    for server in backend.servers:
        for module in server.clients:
            if module in missing:
                raise InputError(
                    f"topology {backend.topology} needs {server.title}'s client, and {python} has no module {module!r}: "
                    f"{_remedy(server, python)}"
                )
    if missing:
        raise InputError(f"{python} has no module {missing[0]!r}: install uavsim in that environment too")


def _remedy(server: Server, python: str) -> str:
    setup = setup_line() if python == sys.executable and server in (CARLA, AIRSIM) else ""
    return setup or server.install.replace("{pip}", pip_install(python))


def _missing_in(python: str, modules: list[str]) -> list[str]:
    try:
        done = subprocess.run(
            [python, "-P", "-c", _ASK, *modules], capture_output=True, text=True, timeout=_ASK_S, check=True
        )
        missing: list[str] = json.loads(done.stdout)
    except subprocess.CalledProcessError as error:
        reason = (error.stderr.strip().splitlines() or [f"ended with code {error.returncode}"])[-1]
        raise InputError(f"client_python {python}: {reason}; it must be Python 3.11 or newer") from error
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"client_python {python}: {reason}") from error
    return missing
