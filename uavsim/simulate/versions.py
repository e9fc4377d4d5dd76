"""Supported versions of CARLA servers, and the environments with their clients."""

from typing import Final

from uavsim.config.backends import beside
from uavsim.errors import SimulatorError

CLIENT_VERSION: Final = "0.9.16"
_ENVIRONMENTS: Final = {"0.9.15": ".venv-carla-0.9.15", "0.10.0": ".venv-carla-0.10.0"}


def client_python(version: str) -> str:
    """Return the interpreter of the environment with a version's client; "" for uavsim's own, or if there is none."""
    return beside(_ENVIRONMENTS.get(_release(version), ""))


def refuse_unserved(version: str, *, where: str) -> None:
    """Raise ``SimulatorError`` unless there is a client for a server of this version."""
    release = _release(version)
    if release == CLIENT_VERSION or client_python(version):
        return
    if release in _ENVIRONMENTS:
        raise SimulatorError(
            f"the server at {where} is CARLA {version}, and its client is not installed: run scripts/setup "
            f"--carla {release}, or set client_python to an interpreter with it"
        )
    raise SimulatorError(
        f"the server at {where} is CARLA {version}; supported are {', '.join((CLIENT_VERSION, *_ENVIRONMENTS))}: start "
        f"carlasim/carla:{CLIENT_VERSION}"
    )


def refuse_other_client(client: str, *, server: str, where: str, python: str) -> None:
    """Raise ``SimulatorError`` unless the client library is of the server's version: their wire layouts differ."""
    if _release(client) != _release(server):
        raise SimulatorError(
            f"the server at {where} is CARLA {server}, the module carla of {python} is {client}: set client_python to an "
            f"interpreter with {_release(server)}"
        )


def _release(version: str) -> str:
    """Remove a build's suffix: ``0.9.16-dirty``."""
    return version.split("-")[0]
