"""Run one probe in this process, so that a crash of the client ends one probe only.

python -m uavsim.probing.conform.worker NAME --carla HOST:PORT --airsim HOST:PORT

The output is a line of JSON for each answer, as soon as it is known, and a last line without an answer.
"""

import argparse
import importlib
import json
import os
from collections.abc import Callable, Iterator
from typing import Any, Final, TextIO

from uavsim.errors import UavsimError
from uavsim.probing.conform.answers import Answer
from uavsim.simulate.airsim.link import AirSimLink
from uavsim.simulate.one_line import answer_in_one_line
from uavsim.simulate.ports import Endpoint
from uavsim.typing import JsonDict

CARLA: Final = {  # probe -> its module, in order of execution
    "server": "town", "town": "town", "signs": "town", "parked": "town", "weather": "town", "lockstep": "clock",
    "placements": "clock", "stamps": "clock", "determinism": "clock", "rates": "clock", "drawing": "drawing",
    "exposure": "drawing", "memory": "drawing", "masks": "bodies", "hidden": "bodies", "blueprints": "bodies",
    "controls": "driving", "traffic": "driving", "loading": "drawing",
}  # fmt: skip
AIRSIM: Final = ("server", "clock", "placing", "images", "objects", "resting", "flight", "reset")


def gathered(answers: Iterator[Answer], *, group: str) -> Iterator[Answer]:
    """Yield all answers up to an error of server or client, and the error as the last answer."""
    capability = group
    try:
        for answer in answers:
            capability = answer.capability
            yield answer
    except (UavsimError, RuntimeError, OSError, ValueError, AttributeError, TypeError) as error:  # of the client
        note = f"{type(error).__name__}: {' '.join(str(error).split())}"[:400]
        yield Answer(capability=capability, question="asked to the end", value=None, note=note)


def _say(answers: Iterator[Answer], out: TextIO) -> None:
    for answer in answers:
        out.write(json.dumps({"answer": answer.model_dump(exclude_defaults=True)}) + "\n")
        out.flush()


def _carla(name: str, endpoint: Endpoint, out: TextIO) -> None:
    from uavsim.probing.conform.carla.site import Site

    probe: Callable[[Any], Iterator[Answer]] = getattr(
        importlib.import_module(f"uavsim.probing.conform.carla.{CARLA[name]}"), name
    )
    with Site(endpoint) as site:
        _say(gathered(probe(site), group=name), out)


def _airsim(name: str, endpoint: Endpoint, out: TextIO) -> None:
    from uavsim.probing.conform.airsim import probes

    link = AirSimLink(endpoint.host, endpoint.port)
    try:
        _say(gathered(_translated(link, getattr(probes, name)(link)), group=f"AirSim {name}"), out)
    finally:
        link.close()


def _translated(link: AirSimLink, answers: Iterator[Answer]) -> Iterator[Answer]:
    with link.translated("answering"):
        yield from answers


def _who(carla: Endpoint, airsim: Endpoint | None) -> JsonDict:
    """Return versions, town and kind of the servers; the world then runs freely."""
    from uavsim.probing.conform.carla.site import Site

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
    """Run the probe of the command line, and print its answers."""
    parser = argparse.ArgumentParser(prog="uavsim-conform")
    parser.add_argument("probe", choices=["who", *CARLA, *(f"airsim-{name}" for name in AIRSIM)])
    parser.add_argument("--carla", default="")
    parser.add_argument("--airsim", default="")
    options = parser.parse_args()

    output = os.fdopen(os.dup(1), "w", encoding="utf-8")

    def ask() -> JsonDict:
        carla = Endpoint.parse(options.carla, what="--simulator")
        airsim = Endpoint.parse(options.airsim, what="--airsim") if options.airsim else None
        if options.probe == "who":
            return _who(carla, airsim)
        if options.probe in CARLA:
            _carla(options.probe, carla, output)
        elif airsim is not None:
            _airsim(options.probe.removeprefix("airsim-"), airsim, output)
        return {}

    answer_in_one_line(ask)


if __name__ == "__main__":
    main()
