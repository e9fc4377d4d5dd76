"""The options that override what a dataset's YAML says, the same of every command that has them."""

from typing import Annotated

import typer

from uavsim.config.overrides import Overrides

__all__ = ["NameOption", "SamplesOption", "SeedOption", "SettleOption", "TopologyOption"]


def _help(field: str) -> str | None:
    return Overrides.model_fields[field].description


SamplesOption = Annotated[int | None, typer.Option(min=1, help=_help("samples"))]
SeedOption = Annotated[int | None, typer.Option(min=0, help=_help("seed"))]
TopologyOption = Annotated[str | None, typer.Option(help=_help("topology"))]
SettleOption = Annotated[bool | None, typer.Option("--settle/--no-settle", help=_help("settle"))]
NameOption = Annotated[str | None, typer.Option(help="Instead of the dataset's.")]
