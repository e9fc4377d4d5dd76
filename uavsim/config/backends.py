"""Simulator backends: their servers, client packages and code.

Reading these records imports no vendor's client. Only ``simulate/session.py`` imports the code of an entry, in the client
process. Other packages add backends through the entry-point group ``uavsim.backends``: the entry's name is the topology, its
value a ``Backend``.
"""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field

from uavsim.errors import InputError
from uavsim.registry import Registry


@dataclass(frozen=True, slots=True)
class Server:
    """One server of a backend, and the client that speaks to it.

    Attributes:
        name: key in ``ports`` of a run's YAML and on the client worker's command line; ``{NAME_port}`` in a command.
        title: name in messages.
        default_port: its port unless the configuration names another.
        adjacent_ports: number of consecutive ports that it uses, from its port on.
        answers: kind by which ``simulate/recognise.py`` identifies it; "" if only its client can.
        clients: Python modules of its client.
        install: command that installs them; ``{pip}`` stands for pip of the client's environment.
    """

    name: str
    title: str
    default_port: int
    clients: tuple[str, ...]
    install: str
    adjacent_ports: int = 1
    answers: Literal["", "carla", "airsim", "cosys"] = ""


@dataclass(frozen=True, slots=True)
class Backend:
    """One backend.

    Attributes:
        topology: its name: ``topology`` in YAML, ``--topology`` on the command line.
        servers: servers of its client process; messages give the first one as the simulator's address.
        ports: ``module:function`` that returns ``simulate.ports.Ports`` from the servers' endpoints and ``Deadlines``.
        sensors_from: the server that gives the measurements, see ``records/modalities.py``.
        python: interpreter of its client process; empty: that of uavsim. ``client_python`` of a simulator has precedence.
        headless: options of the headless simulator that make it serve this backend.
    """

    topology: str
    servers: tuple[Server, ...]
    ports: str
    sensors_from: Literal["carla", "airsim"] = "carla"
    python: str = ""
    headless: tuple[str, ...] = ()

    def missing(self, names: Iterable[str]) -> tuple[Server, ...]:
        """Return the servers that are not among ``names``."""
        known = set(names)
        return tuple(server for server in self.servers if server.name not in known)


CARLA: Final = Server(
    "carla",
    "CARLA",
    2000,
    clients=("carla",),
    install="{pip} carla==0.9.16",
    adjacent_ports=3,
    answers="carla",
)
AIRSIM: Final = Server(
    "airsim",
    "AirSim",
    41451,
    clients=("airsim", "msgpackrpc"),
    # its source package imports numpy and msgpackrpc while it builds, and asks for an RPC package that is slow on images
    install="{pip} rpc-msgpack==0.6 numpy setuptools wheel && {pip} --no-build-isolation --no-deps airsim==1.8.1",
    answers="airsim",
)
COSYS: Final = Server(
    "airsim",
    "Cosys-AirSim",
    41451,
    clients=("cosysairsim", "msgpackrpc"),
    install="scripts/setup makes an environment with it in .venv-cosys; elsewhere, in another environment "
    "that has uavsim: python -m pip install cosysairsim==3.5.0, and name its interpreter as client_python",
    answers="cosys",
)
HEADLESS: Final = (CARLA.name, AIRSIM.name)
"""Names of the headless simulator's servers."""


def beside(environment: str) -> str:
    """Return the interpreter of an environment beside uavsim's own, or ""."""
    python = Path(sys.prefix).parent / environment / "bin" / "python"
    return str(python) if environment and python.exists() else ""


_TWO_WORLDS: Final = ("--separate-worlds",)
_BUILT_IN: Final = (
    Backend("carla", (CARLA,), "uavsim.simulate.backends:carla", headless=("--no-airsim",)),
    Backend("bridge", (CARLA, AIRSIM), "uavsim.simulate.backends:bridge", headless=_TWO_WORLDS),
    Backend(
        "cosys",
        (CARLA, COSYS),
        "uavsim.simulate.backends:cosys",
        python=beside(".venv-cosys"),
        headless=(*_TWO_WORLDS, "--airsim-dialect", "cosys"),
    ),
    Backend("merged", (CARLA, AIRSIM), "uavsim.simulate.backends:merged", sensors_from="airsim"),
)
BACKENDS: Final = Registry(
    "backends", {backend.topology: backend for backend in _BUILT_IN}, what="topology", expects=Backend
)


def topologies() -> list[str]:
    """Return the names of all backends, built-in ones first, without importing plug-ins."""
    return BACKENDS.names()


def backend_of(topology: str) -> Backend:
    """Return the backend of this name.

    Raises:
        UnknownNameError: no backend has this name; the message suggests the nearest one.
        InputError: another package's entry cannot be loaded or is no ``Backend``.
    """
    return BACKENDS.pick(topology)


def _known(topology: str) -> str:
    try:
        return backend_of(topology).topology
    except InputError as error:
        raise ValueError(str(error)) from error


def _list_names(schema: dict[str, Any]) -> None:
    schema["enum"] = topologies()


Topology = Annotated[str, AfterValidator(_known), Field(json_schema_extra=_list_names)]
"""The name of a backend in YAML and options."""
