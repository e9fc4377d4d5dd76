"""``uavsim preview``: one sample of one scene as an image, the first look at a new YAML file."""

import json
import os
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from uavsim.cli.options import (
    DATASET_HELP,
    FormationOption,
    JsonOption,
    RigOption,
    RunOption,
    SeedOption,
    SimulatorOption,
    TopologyOption,
    WeatherOption,
    check_png,
    overrides_of,
    run_config,
)
from uavsim.errors import InputError
from uavsim.run.request import Request
from uavsim.terminal import Screen, count, write_out


def preview(
    *,
    dataset: Annotated[str, typer.Option(help=DATASET_HELP)],
    scene: Annotated[int | None, typer.Option(min=0, help="Scene number; default: the first.")] = None,
    town: Annotated[str | None, typer.Option(help="Use the first scene of this town.")] = None,
    seed: SeedOption = None,
    topology: TopologyOption = None,
    formation: FormationOption = None,
    rig: RigOption = None,
    weather: WeatherOption = None,
    settle: Annotated[
        bool,
        typer.Option("--settle", help="Let the cameras settle first, as in a dataset; takes longer."),
    ] = False,
    simulator: SimulatorOption = None,
    run: RunOption = None,
    png: Annotated[Path, typer.Option(help="The image to write.")] = Path("preview.png"),
    as_json: JsonOption = False,
) -> None:
    """Run ``uavsim preview``."""
    overrides = overrides_of(locals() | {"settle": None if settle else False})
    check_png(png)
    _refuse_unwritable(png)  # before the flight
    from uavsim.probing.preview import write_preview

    request = Request(
        dataset=dataset,
        out="preview",
        towns=(town,) if town is not None else (),
        scenes=str(scene) if scene is not None else None,
        **overrides.model_dump(),
        simulators=tuple(simulator or ()),
        run=run_config(run),
    )
    result = write_preview(request, png, console=Screen(stderr=True))
    if as_json:
        write_out(json.dumps({"png": str(png)} | asdict(result)))
    visible = f"{result.visible} of {count(result.objects, 'object')} in view"
    Screen(quiet=as_json).print(f"{png}: {result.scene} in {result.town}, {count(result.images, 'image')}, {visible}")


def _refuse_unwritable(png: Path) -> None:
    """Refuse an image path that cannot be written: a directory, or a parent that is no directory or takes no files.

    Raises:
        InputError: the path cannot be written.
    """
    if png.is_dir():
        raise InputError(f"--png {png}: is a directory; name a file in it")
    parent = next(folder for folder in png.absolute().parents if os.path.lexists(folder))  # the rest is created later
    try:
        tempfile.TemporaryFile(dir=parent).close()
    except OSError as error:
        raise InputError(f"--png {png}: cannot write into {parent}: {error.strerror}; choose another path") from error
