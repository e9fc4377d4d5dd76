"""``uavsim map``: a vector map of a town's roads."""

import json
from pathlib import Path
from typing import Annotated

import typer

from uavsim.cli.options import JsonOption, check_png
from uavsim.errors import InputError
from uavsim.files.names import check_part
from uavsim.registry import pick
from uavsim.terminal import Screen, size, write_out
from uavsim.typing import JsonDict

__all__ = ["make_map"]

_SHOWN_WARNINGS = 20


def make_map(
    town: Annotated[
        str, typer.Argument(help="An OpenDRIVE file (.xodr), HOST:PORT of a CARLA server, or a headless town's name.")
    ],
    *,
    out: Annotated[Path, typer.Option(help="Folder for the result.")],
    format_: Annotated[str, typer.Option("--format", help="nuscenes, geojson, graph or lanelet2.")] = "nuscenes",
    name: Annotated[str | None, typer.Option(help="The map's name in files; default: the town's.")] = None,
    borrow: Annotated[
        str | None, typer.Option(help="A name that the nuScenes devkit accepts unchanged, such as boston-seaport.")
    ] = None,
    at_corner: Annotated[
        bool, typer.Option("--at-corner", help="Move the town so that its south west corner is (0, 0), as in nuScenes.")
    ] = False,
    buildings: Annotated[
        bool,
        typer.Option("--buildings", help="Add the simulator's buildings: a layer of footprints with heights."),
    ] = False,
    png: Annotated[Path | None, typer.Option(help="Also draw the town into this PNG.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Run ``uavsim map``."""
    from uavsim.cli.map_source import network_of
    from uavsim.files.results import ResultPath
    from uavsim.files.whole import write_whole
    from uavsim.images.codec import encode_png
    from uavsim.maps.build import build
    from uavsim.maps.files import BORROWED, FORMATS, write_files
    from uavsim.maps.raster import draw_town

    files_of = pick(FORMATS, format_, what="format")
    if borrow is not None:
        pick(BORROWED, borrow, what="name of nuScenes")
    check_png(png)
    if buildings and format_ == "graph":
        raise InputError("--buildings: a lane graph has no buildings; choose --format nuscenes or geojson")
    folder, drawing = ResultPath.open(out), png and ResultPath.of_file(png)
    network, known, listed = network_of(town, buildings=buildings)
    label = check_part(borrow or name or known, what="name")
    made = build(network, known, listed)
    if at_corner:
        made = made.shifted(-made.bounds_m[0], -made.bounds_m[1])
    sizes = write_files(folder, files_of(made, label))
    if drawing:
        write_whole(drawing, encode_png(draw_town(made)))
    found: JsonDict = {
        "town": known,
        "files": sizes,
        "records": {layer: len(rows) for layer, rows in made.layers.items()},
        "warnings": made.warnings,
    }
    if as_json:
        write_out(json.dumps(found))
        return
    for warning in made.warnings[:_SHOWN_WARNINGS]:
        Screen(stderr=True).print(f"{network.name}: {warning}", highlight=False)
    if len(made.warnings) > _SHOWN_WARNINGS:
        Screen(stderr=True).print(
            f"{network.name}: {len(made.warnings) - _SHOWN_WARNINGS} more warnings (--json lists them)"
        )
    counts = ", ".join(f"{layer} {count}" for layer, count in found["records"].items() if count)
    Screen().print(f"{known}: {counts}", highlight=False)
    for path, written_bytes in found["files"].items():
        Screen().print(f"wrote {out / path}: {size(written_bytes)}", highlight=False)
