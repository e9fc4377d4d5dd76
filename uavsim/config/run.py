"""The settings of a run: simulators, their start, deadlines and attempts."""

import re
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import ConfigDict, Field, model_validator

from uavsim.config.backends import AIRSIM, CARLA, Topology
from uavsim.config.base import Model, Name, Reference, Text
from uavsim.config.deadlines import Deadlines
from uavsim.errors import InputError

__all__ = ["CARLA_IMAGE", "RunConfig", "SimulatorConfig", "parse_simulator"]

# By digest: a tag's owner may move it to another image.
CARLA_IMAGE: Final = "carlasim/carla:0.9.16@sha256:aaf1df22702780ece072069e23d03c4879b002ae028c79744b09c4c7ddbae953"
_ADDRESS = re.compile(r"(?P<host>\[[0-9a-fA-F:]+\]|[A-Za-z0-9_.-]+)(?P<ports>(:([a-z][a-z0-9_]*=)?\d{1,5}){1,8})")
_IN_ORDER = (CARLA.name, AIRSIM.name)  # of ports without a name: HOST:2000:41451
Port = Annotated[int, Field(ge=0, le=65535)]


class _LaxModel(Model):
    # Prefect hands these over as JSON, where a tuple is a list and a path is text.
    model_config = ConfigDict(strict=False)


class SimulatorConfig(_LaxModel):
    """One simulator: its address, and its start unless attached."""

    kind: Literal["mock", "attach", "command", "docker"] = Field(
        default="mock",
        description="mock: the headless simulator; attach: a running server; command, docker: the run starts it",
    )
    name: str = Field(default="", pattern=r"^[A-Za-z0-9_-]{0,40}$", description="name in logs and messages")
    host: str = Field(default="127.0.0.1", pattern=r"^[A-Za-z0-9_.:\[\]-]+$")
    ports: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")], Port] = Field(
        default={},
        description="ports of the servers by name, {carla: 2000, airsim: 41451}; 0: any free port (not for attach); CARLA "
        "also uses the next two",
    )
    client_python: str = Field(
        default="", description="interpreter of the client process, if its clients are in a separate environment"
    )
    command: tuple[str, ...] = Field(
        default=(), description="kind command: the command to run; {carla_port}, {airsim_port} and {gpu} are filled in"
    )
    image: str = Field(default=CARLA_IMAGE, description="kind docker: image of the simulator")
    docker_options: tuple[str, ...] = Field(default=(), description="kind docker: additional options of docker run")
    arguments: tuple[str, ...] = Field(default=(), description="kind mock, command, docker: additional arguments")
    gpu: int | None = Field(default=None, ge=0, description="index of the graphics card")
    # The headless simulator compiles its renderer on its first start: a minute of a core, more on a busy machine. One that
    # ends is noticed at once; only one that hangs costs this long.
    ready_s: float = Field(default=600.0, gt=0, description="seconds from its start until it answers")
    wait_s: float = Field(default=0.0, ge=0, description="kind attach: seconds to wait for its first answer")
    restart: bool = Field(default=True, description="restart it after a failure")
    recycle_scenes: int = Field(default=100, ge=1, description="restart it after this number of scenes: servers leak")
    recycle_rss_mb: float = Field(default=16_000.0, gt=0, description="restart it above this memory, MB")
    recycle_below_pace: float = Field(
        default=0.25,
        ge=0,
        lt=1,
        description="restart it after three successive scenes below this share of its best pace",
    )

    @model_validator(mode="after")
    def _check_kind(self) -> Self:
        if self.kind == "attach" and not self.ports:
            raise ValueError("kind attach needs ports, for example ports: {carla: 2000}")
        if self.kind == "attach" and 0 in self.ports.values():
            raise ValueError("kind attach needs the ports at which the servers listen, not 0")
        if self.ports.get(CARLA.name, 0) > 65536 - CARLA.adjacent_ports:
            raise ValueError(f"ports: CARLA needs {CARLA.adjacent_ports} ports from {self.ports[CARLA.name]} on")
        if self.kind == "command" and not self.command:
            raise ValueError("kind command needs command")
        if self.kind in {"attach", "mock"} and self.command:
            raise ValueError(f"kind {self.kind} takes no command")
        if self.kind in {"mock", "command", "docker"} and self.host != "127.0.0.1":
            raise ValueError(f"kind {self.kind} is started on this machine: host must stay 127.0.0.1")
        return self


class RunConfig(_LaxModel):
    """A run, as in ``uavsim generate --run FILE``; the command line's options take precedence.

    Everything but ``dataset``, ``seed`` and ``topology`` may differ between two runs of one dataset.
    """

    dataset: Reference | None = Field(default=None, description="name in flight_plans/datasets, or a YAML file")
    out: Text | None = Field(default=None, description="folder, or fsspec URL")
    towns: tuple[Name, ...] = Field(default=(), description="towns of the dataset; all by default")
    topology: Topology | None = Field(default=None, description="overrides the dataset's topology")
    seed: int | None = Field(default=None, ge=0, le=2**31 - 1, description="overrides the dataset's seed")
    simulators: tuple[SimulatorConfig, ...] = Field(default=(SimulatorConfig(),), min_length=1)
    attempts: int = Field(default=3, ge=1, description="number of failures after which a scene is quarantined")
    retry_delay_s: float = Field(default=2.0, ge=0, description="seconds before the second attempt; doubled each time")
    client_recycle_scenes: int = Field(default=50, ge=1, description="scenes until the client process restarts")
    client_recycle_rss_mb: float = Field(default=4_000.0, gt=0)
    deadlines: Deadlines = Deadlines()
    label_threads: int = Field(
        default=1, ge=1, le=16, description="number of scenes that are labelled while a simulator flies"
    )
    scratch: Path | None = Field(
        default=None, description="local folder for scenes in flight when the output is an object store"
    )

    @model_validator(mode="after")
    def _check_unique_names(self) -> Self:
        names = [simulator.name for simulator in self.simulators if simulator.name]
        duplicate = next((name for name in names if names.count(name) > 1), None)
        if duplicate is not None:
            raise ValueError(f"two simulators are named {duplicate}; use different names")
        return self


def parse_simulator(text: str) -> SimulatorConfig:
    """Read ``--simulator``: ``mock``, ``HOST:CARLA_PORT[:AIRSIM_PORT]``, or with named ports ``HOST:carla=2000:other=7000``.

    Raises:
        InputError: it is neither.
    """
    if text == "mock":
        return SimulatorConfig()
    match = _ADDRESS.fullmatch(text)
    ports = _ports(match["ports"].split(":")[1:]) if match else None
    if match is None or ports is None:
        raise InputError(
            f"--simulator {text!r}: write mock or HOST:CARLA_PORT[:AIRSIM_PORT], for example 127.0.0.1:2000:41451"
        )
    return SimulatorConfig(kind="attach", host=match["host"].strip("[]"), ports=ports)


def _ports(words: list[str]) -> dict[str, int] | None:
    """Return ports by server; None when one is out of range, named twice, or has a place without a name."""
    ports: dict[str, int] = {}
    for index, word in enumerate(words):
        name, equals, number = word.rpartition("=")
        if not equals and index >= len(_IN_ORDER):
            return None
        name = name or _IN_ORDER[index]
        highest = 65536 - (CARLA.adjacent_ports if name == CARLA.name else 1)
        if name in ports or not 1 <= int(number) <= highest:
            return None
        ports[name] = int(number)
    return ports
