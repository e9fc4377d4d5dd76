"""Sources of a town's OpenDRIVE: a file, a running server, or the headless simulator's own town."""

import re
import subprocess
from pathlib import Path
from typing import Final

from uavsim.config.backends import backend_of
from uavsim.config.run import SimulatorConfig
from uavsim.environment import python_command
from uavsim.errors import InputError, SimulatorError
from uavsim.files.scratch import scratch_folder
from uavsim.maps.opendrive.model import Network
from uavsim.maps.opendrive.read import read_opendrive
from uavsim.records.road_map import Building
from uavsim.simulate.answerers import client_python_of
from uavsim.simulate.one_line import ask_in_one_line
from uavsim.simulate.ports import Endpoint
from uavsim.supervise.simulator import Simulator

__all__ = ["network_of"]

_TIMEOUT_S: Final = 300
_BAD_INPUT: Final = 2
_SERVER: Final = re.compile(r"[A-Za-z0-9_.\-\[\]:]+:\d{1,5}")
_TOWN: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,60}")


def network_of(target: str, *, buildings: bool = False) -> tuple[Network, str, list[Building]]:
    """Return a town's roads, its name, and its buildings if requested.

    Args:
        target: an OpenDRIVE file; ``HOST:PORT`` of a CARLA server; or a town of the headless simulator.
        buildings: ask the simulator for them; OpenDRIVE has none.

    Raises:
        InputError: the target is none of these, the file is not OpenDRIVE, or buildings of a file are requested.
        SimulatorError: the server does not answer.
    """
    path = Path(target)
    if path.suffix.lower() == ".xodr" or path.is_file():
        if buildings:
            raise InputError(
                f"{target}: OpenDRIVE has no buildings; name HOST:PORT of a simulator that has the town loaded"
            )
        return read_opendrive(path), path.stem, []
    with scratch_folder("uavsim-map-") as folder:
        file = folder / "town.xodr"
        if _SERVER.fullmatch(target):
            name, listed = _ask(target, file, buildings=buildings)
        elif _TOWN.fullmatch(target):
            name, listed = target, []
            write_headless_map(target, file)
            if buildings:
                _, listed = _ask_headless(target, file)
        else:
            raise InputError(f"{target}: not an OpenDRIVE file (.xodr), HOST:PORT of a CARLA server or a town's name")
        network = read_opendrive(file)
    network.name = name
    return network, name, listed


def write_headless_map(town: str, file: Path) -> None:
    """Write the map of one of the headless simulator's own towns into a file."""
    command = python_command("headless_simulator", "--town", town, "--write-xodr", str(file))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0 or not file.is_file():
        last = done.stderr.strip().splitlines()[-1:]
        reason = last[0] if last else f"the headless simulator ended with code {done.returncode}"
        raise InputError(reason) if done.returncode == _BAD_INPUT else SimulatorError(reason)


def _ask_headless(town: str, file: Path) -> tuple[str, list[Building]]:
    """Query a private headless simulator; see ``_ask``."""
    server = Simulator(
        SimulatorConfig(kind="mock", arguments=("--render", "flat", "--town", town)),
        servers=backend_of("carla").servers,
        name="map",
        logs=file.parent,
    )
    try:
        return _ask(server.ensure()["carla"], file, buildings=True)
    finally:
        server.stop()


def _ask(server: str, file: Path, *, buildings: bool) -> tuple[str, list[Building]]:
    """Write the map of a server into a file, by a client process; return the town's name and its buildings."""
    more = ["--buildings"] if buildings else []
    arguments = python_command("uavsim.simulate.carla.opendrive", server, str(file), *more)
    where = Endpoint.parse(server, what="server")
    command = [client_python_of("carla", {"carla": where}) or arguments[0], *arguments[1:]]
    answer = ask_in_one_line(command, server=server, limit_s=_TIMEOUT_S)
    return str(answer["town"]), [Building(**row) for row in answer["buildings"]]
