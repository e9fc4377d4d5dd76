"""``uavsim preview``: one sample of one scene as an image, the first look at a new YAML file."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from uavsim.cli.generate import JsonOption, RunOption, SimulatorOption
from uavsim.cli.overrides import (
    DATASET_HELP,
    FormationOption,
    RigOption,
    SeedOption,
    TopologyOption,
    WeatherOption,
)
from uavsim.config.library import Library
from uavsim.config.overrides import Overrides
from uavsim.errors import InputError
from uavsim.run.request import Request
from uavsim.terminal import Screen, count, write_out


def preview(
    *,
    dataset: Annotated[str, typer.Option(help=DATASET_HELP)],
    scene: Annotated[int | None, typer.Option(min=0, help="Scene number; default: the first one.")] = None,
    town: Annotated[str | None, typer.Option(help="Take the first scene of this town.")] = None,
    seed: SeedOption = None,
    topology: TopologyOption = None,
    formation: FormationOption = None,
    rig: RigOption = None,
    weather: WeatherOption = None,
    settle: Annotated[
        bool,
        typer.Option("--settle", help="Let the cameras settle first; takes longer, and looks as the dataset will."),
    ] = False,
    simulator: SimulatorOption = None,
    run: RunOption = None,
    png: Annotated[Path, typer.Option(help="The image to write.")] = Path("preview.png"),
    as_json: JsonOption = False,
) -> None:
    """Run ``uavsim preview``."""
    if png.suffix.lower() != ".png":
        raise InputError(f"--png {png}: the preview is a PNG image; give it a name that ends with .png")
    from uavsim.probing.preview import write_preview

    overrides = Overrides(
        seed=seed, topology=topology, formation=formation, rig=rig, weather=weather, settle=None if settle else False
    )
    request = Request(
        dataset=dataset,
        out="preview",
        towns=(town,) if town is not None else (),
        scenes=str(scene) if scene is not None else None,
        **overrides.model_dump(),
        simulators=tuple(simulator or ()),
        run=Library.of().run(run).model if run is not None else None,
    )
    shown = write_preview(request, png, console=Screen(stderr=True))
    if as_json:
        write_out(json.dumps({"png": str(png)} | asdict(shown)))
    visible = f"{shown.visible} of {count(shown.objects, 'object')} in view"
    Screen(quiet=as_json).print(f"{png}: {shown.scene} in {shown.town}, {count(shown.images, 'image')}, {visible}")
