"""Options and arguments that several commands share, and helpers that read them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from uavsim.config.library import Library
from uavsim.config.overrides import Overrides
from uavsim.config.run import RunConfig
from uavsim.errors import InputError
from uavsim.terminal import Screen, counts

if TYPE_CHECKING:
    from uavsim.access import Dataset

__all__ = [
    "DATASET_HELP",
    "CheckOption",
    "DatasetFolder",
    "DryRunOption",
    "FormationOption",
    "JsonOption",
    "NewFolder",
    "RigOption",
    "RunOption",
    "SamplesOption",
    "SeedOption",
    "SettleOption",
    "SimulatorOption",
    "TopologyOption",
    "TownsOption",
    "VersionOption",
    "WaitOption",
    "WeatherOption",
    "WriteNothingOption",
    "check_png",
    "overrides_of",
    "print_intent",
    "run_config",
]

DATASET_HELP: Final = "smoke, uav3d-mini, swarm-mini, ... (uavsim list datasets) or a YAML file."
DatasetFolder = Annotated[
    Path, typer.Argument(help="The dataset's folder, which has a version folder such as v1.0-mini.")
]
NewFolder = Annotated[Path, typer.Argument(help="A new folder for the result.")]
VersionOption = Annotated[str | None, typer.Option("--version", help="Version folder; default: the only one.")]


def _help(field: str) -> str | None:
    return Overrides.model_fields[field].description


SamplesOption = Annotated[int | None, typer.Option(min=1, help=_help("samples"))]
SeedOption = Annotated[int | None, typer.Option(min=0, help=_help("seed"))]
TopologyOption = Annotated[str | None, typer.Option(help=_help("topology"))]
SettleOption = Annotated[bool | None, typer.Option("--settle/--no-settle", help=_help("settle"))]
FormationOption = Annotated[str | None, typer.Option(help=_help("formation"))]
RigOption = Annotated[str | None, typer.Option(help=_help("rig"))]
WeatherOption = Annotated[str | None, typer.Option(help=_help("weather"))]
TownsOption = Annotated[
    list[str] | None,
    typer.Option(
        help="Town10HD, Town03, Town07, ... (uavsim list towns); default: all of the dataset; repeat for more."
    ),
]
SimulatorOption = Annotated[
    list[str] | None,
    typer.Option(
        "--simulator",
        help="mock (default: started and stopped by the run), or HOST:PORT[:PORT] of CARLA and AirSim; repeat for more.",
    ),
]
RunOption = Annotated[str | None, typer.Option("--run", help="A run's YAML: simulators, deadlines, attempts.")]
WaitOption = Annotated[
    float | None,
    typer.Option("--wait", min=0, help="Seconds to wait for a HOST:PORT that does not answer yet."),
]
CheckOption = Annotated[bool, typer.Option(help="Validate the result.")]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Print the plan; start and write nothing.")]
WriteNothingOption = Annotated[bool, typer.Option("--dry-run", help="Print the intended result; write nothing.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]


def overrides_of(arguments: Mapping[str, Any]) -> Overrides:
    """Return the overrides among a command's arguments.

    Args:
        arguments: by parameter name: ``locals()`` of the command's function.
    """
    return Overrides(**{name: arguments[name] for name in Overrides.model_fields if name in arguments})


def run_config(name: str | None) -> RunConfig | None:
    """Load the configuration that ``--run`` names; None without the option."""
    return Library.of().run(name).model if name else None


def check_png(path: Path | None) -> None:
    """Refuse the path of an image that does not end in ``.png``.

    Raises:
        InputError: the path has another suffix.
    """
    if path is not None and path.suffix.lower() != ".png":
        raise InputError(f"--png {path}: a PNG image is written; give it a name that ends with .png")


def print_intent(data: Dataset, outcome: str) -> None:
    """Print the answer to ``--dry-run``: the planned work on a dataset."""
    size = counts(scene=len(data.scene_names), sample=sum(map(len, data)))
    Screen().print(f"{data.root}: {size} would be {outcome}; nothing was written (--dry-run)")
