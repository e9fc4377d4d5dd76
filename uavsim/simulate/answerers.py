"""Refuse foreign servers at a backend's ports, each in one line, before a vendor's client or anything else is started."""

from collections.abc import Mapping

from uavsim.config.backends import Server, backend_of
from uavsim.errors import SimulatorError
from uavsim.simulate.ports import Endpoint
from uavsim.simulate.recognise import recognise, require
from uavsim.simulate.versions import refuse_other_server


def refuse_foreign_servers(topology: str, endpoints: Mapping[str, Endpoint]) -> None:
    """Make sure that the servers of a backend are what they should be, as far as a question over the network can say.

    Args:
        topology: name of the backend.
        endpoints: where its servers listen, by their names.

    Raises:
        SimulatorError: another program answers at a port, another version, or nobody.
    """
    for server in backend_of(topology).servers:
        refuse_foreign_server(server, endpoints[server.name], topology=topology)


def refuse_foreign_server(server: Server, where: Endpoint, *, topology: str) -> None:
    """Make sure of one server.

    Raises:
        SimulatorError: as ``refuse_foreign_servers``.
    """
    if not server.answers:
        return
    if topology == "merged" and server.answers == "airsim" and recognise(where, expected="airsim").kind == "cosys":
        raise SimulatorError(
            f"{where.host}:{where.port} is Cosys-AirSim, which is built on Unreal 5: no build of it hosts the towns of "
            "CARLA 0.9.16, so there is no topology merged with it; use topology cosys, beside a CARLA of its own"
        )
    found = require(server.answers, where)
    if server.answers == "carla":
        refuse_other_server(found.detail, where=f"{where.host}:{where.port}")
