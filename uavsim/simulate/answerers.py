"""Identify the servers at a backend's ports, and refuse others in one line before a vendor's client starts."""

from collections.abc import Mapping

from uavsim.config.backends import Server, backend_of
from uavsim.errors import SimulatorError
from uavsim.simulate.ports import Endpoint
from uavsim.simulate.recognise import carla_version, recognise, require
from uavsim.simulate.versions import client_python, refuse_unserved


def refuse_foreign_servers(topology: str, endpoints: Mapping[str, Endpoint], *, python: str = "") -> None:
    """Check that the servers of a backend are the expected ones.

    Args:
        topology: name of the backend.
        endpoints: addresses of the servers by name.
        python: interpreter of the client process; its client then checks the version.

    Raises:
        SimulatorError: another program, another version or no server answers at a port.
    """
    for server in backend_of(topology).servers:
        refuse_foreign_server(server, endpoints[server.name], topology=topology, python=python)


def refuse_foreign_server(server: Server, where: Endpoint, *, topology: str, python: str = "") -> None:
    """Check a server.

    Raises:
        SimulatorError: see ``refuse_foreign_servers``.
    """
    if not server.answers:
        return
    if topology == "merged" and server.answers == "airsim" and recognise(where, expected="airsim").kind == "cosys":
        raise SimulatorError(
            f"{where.host}:{where.port} is Cosys-AirSim, which is built on Unreal 5: no build of it has the towns of "
            "CARLA 0.9.16, so topology merged does not support it; use topology cosys with a separate CARLA"
        )
    found = require(server.answers, where)
    if server.answers == "carla" and not python:
        refuse_unserved(found.detail, where=f"{where.host}:{where.port}")


def client_python_of(topology: str, endpoints: Mapping[str, Endpoint]) -> str:
    """Return the interpreter with a CARLA client of a server's version; "" for uavsim's own.

    Raises:
        SimulatorError: there is no client for this version.
    """
    for server in backend_of(topology).servers:
        if server.answers == "carla":
            where = endpoints[server.name]
            version = carla_version(where)
            if version:  # without an answer, the client's own error is better
                refuse_unserved(version, where=f"{where.host}:{where.port}")
            return client_python(version)
    return ""
