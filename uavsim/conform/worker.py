"""One probe in a process of its own: a client that dies takes nobody with it.

python -m uavsim.conform.worker NAME --carla HOST:PORT --airsim HOST:PORT
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Iterator
from typing import Any, Final

from uavsim.conform.answers import Answer
from uavsim.errors import UavsimError
from uavsim.simulate.airsim.link import AirSimLink
from uavsim.simulate.one_line import answer_in_one_line
from uavsim.simulate.ports import Endpoint
from uavsim.typing import JsonDict

__all__ = ["AIRSIM", "CARLA", "gathered", "main"]

CARLA: Final = {  # probe -> module of it; the order in which they are asked
    "server": "town", "town": "town", "signs": "town", "weather": "town", "lockstep": "clock", "placements": "clock",
    "stamps": "clock", "determinism": "clock", "rates": "clock", "masks": "bodies", "blueprints": "bodies",
    "controls": "driving", "traffic": "driving",
}  # fmt: skip
AIRSIM: Final = ("server", "clock", "placing", "images", "objects", "resting", "flight")


def gathered(answers: Iterator[Answer], *, group: str) -> list[Answer]:
    """Return all answers up to an error of the server's or the client's, and that error as the last one."""
    found: list[Answer] = []
    try:
        for answer in answers:
            found.append(answer)
    except (
        UavsimError,
        RuntimeError,
        OSError,
        ValueError,
        AttributeError,
        TypeError,
    ) as error:  # of the client: kept as an answer
        note = f"{type(error).__name__}: {' '.join(str(error).split())}"[:400]
        found.append(
            Answer(
                capability=found[-1].capability if found else group, question="asked to the end", value=None, note=note
            )
        )
    return found


def _carla(name: str, endpoint: Endpoint) -> list[Answer]:
    from uavsim.conform.carla.site import Site

    probe: Callable[[Any], Iterator[Answer]] = getattr(
        importlib.import_module(f"uavsim.conform.carla.{CARLA[name]}"), name
    )
    with Site(endpoint) as site:
        return gathered(probe(site), group=name)


def _airsim(name: str, endpoint: Endpoint) -> list[Answer]:
    from uavsim.conform.airsim import probes

    link = AirSimLink(endpoint.host, endpoint.port)
    try:
        return gathered(_translated(link, getattr(probes, name)(link)), group=f"AirSim {name}")
    finally:
        link.close()


def _translated(link: AirSimLink, answers: Iterator[Answer]) -> Iterator[Answer]:
    with link.translated("answering"):
        yield from answers


def _who(carla: Endpoint, airsim: Endpoint | None) -> JsonDict:
    """Return the versions, the town and the kind of the servers; the world runs freely afterwards."""
    from uavsim.conform.carla.site import Site

    with Site(carla) as site:
        kind = str(site.world.get_spectator().attributes.get("simulator", "unreal"))
        client, server, town = site.client.get_client_version(), site.client.get_server_version(), site.town.name
    version = ""
    if airsim is not None:
        link = AirSimLink(airsim.host, airsim.port)
        version = str(link.client.getServerVersion())
        link.close()
    return {"simulator": kind, "client": client, "server": server, "town": town, "airsim": version}


def main() -> None:
    """Print the answers as one line of JSON."""
    parser = argparse.ArgumentParser(prog="uavsim-conform")
    parser.add_argument("probe", choices=["who", *CARLA, *(f"airsim-{name}" for name in AIRSIM)])
    parser.add_argument("--carla", default="")
    parser.add_argument("--airsim", default="")
    options = parser.parse_args()

    def ask() -> JsonDict:
        carla = Endpoint.parse(options.carla, what="--simulator")
        airsim = Endpoint.parse(options.airsim, what="--airsim") if options.airsim else None
        if options.probe == "who":
            return _who(carla, airsim)
        if options.probe in CARLA:
            answers = _carla(options.probe, carla)
        elif airsim is not None:
            answers = _airsim(options.probe.removeprefix("airsim-"), airsim)
        else:
            answers = []
        return {"answers": [a.model_dump(exclude_defaults=True) for a in answers]}

    answer_in_one_line(ask)


if __name__ == "__main__":
    main()
