"""Save the OpenDRIVE text and the buildings of a CARLA server's loaded town."""

import argparse
import sys
from pathlib import Path

import carla

from uavsim.config.deadlines import Deadlines
from uavsim.simulate import versions
from uavsim.simulate.carla.buildings import buildings_of
from uavsim.simulate.carla.errors import translated
from uavsim.simulate.one_line import answer_in_one_line
from uavsim.simulate.ports import Endpoint
from uavsim.simulate.recognise import require
from uavsim.typing import JsonDict


def _save(where: Endpoint, out: Path, *, buildings: bool) -> JsonDict:
    server = require("carla", where).detail
    client = carla.Client(where.host, where.port)
    client.set_timeout(Deadlines().call_s)
    versions.refuse_other_client(
        client.get_client_version(), server=server, where=f"{where.host}:{where.port}", python=sys.executable
    )
    with translated("reading the map"):
        world = client.get_world()
        town = world.get_map()
        out.write_text(town.to_opendrive(), "utf-8")
    listed = [building._asdict() for building in buildings_of(world)] if buildings else []
    return {"town": str(town.name).rsplit("/", 1)[-1], "buildings": listed}


def main() -> None:
    """``python -m uavsim.simulate.carla.opendrive HOST:PORT FILE [--buildings]`` writes the map of a server into a file."""
    parser = argparse.ArgumentParser(prog="uavsim-opendrive")
    parser.add_argument("server")
    parser.add_argument("file", type=Path)
    parser.add_argument("--buildings", action="store_true", help="also answer with the town's buildings")
    options = parser.parse_args()
    answer_in_one_line(
        lambda: _save(Endpoint.parse(options.server, what="server"), options.file, buildings=options.buildings)
    )


if __name__ == "__main__":
    main()
