"""The options that override what a dataset's YAML says, the same of every command that has them."""

from typing import Annotated, Final

import typer

from uavsim.config.overrides import Overrides

__all__ = [
    "DATASET_HELP",
    "FormationOption",
    "RigOption",
    "SamplesOption",
    "SeedOption",
    "SettleOption",
    "TopologyOption",
    "TownsOption",
    "WeatherOption",
]

DATASET_HELP: Final = "smoke, uav3d-mini, swarm-mini, ... (uavsim list datasets), or a YAML file."


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
        help="Town10HD, Town03, Town07, ... (uavsim list towns); default: all of the dataset; repeat for several."
    ),
]
