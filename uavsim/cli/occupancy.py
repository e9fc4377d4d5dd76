"""``uavsim occupancy``: voxels of a dataset's samples."""

import json
from pathlib import Path
from typing import Annotated

import typer

from uavsim.cli.options import JsonOption
from uavsim.terminal import Screen, write_out

__all__ = ["occupancy"]


def occupancy(
    dataset: Annotated[Path, typer.Argument(help="A dataset with depth and instance masks.")],
    *,
    out: Annotated[Path, typer.Option(help="Folder for the result.")],
    format_: Annotated[
        str, typer.Option("--format", help="parquet, occ3d, uniocc, occufly or surroundocc.")
    ] = "parquet",
    grid: Annotated[
        str | None, typer.Option(help="swarm, occ3d, surroundocc, occufly or a YAML file; default: the format's.")
    ] = None,
    of: Annotated[
        list[str] | None,
        typer.Option("--of", help="An agent (0, v0) or a channel to make grids for; repeat for more."),
    ] = None,
    scan: Annotated[
        list[Path] | None, typer.Option("--scan", help="A further dataset that shows the same towns; repeat for more.")
    ] = None,
    scan_cache: Annotated[
        Path | None, typer.Option("--kept", help="Folder that caches scans of scenes; default: in --out.")
    ] = None,
    scenes: Annotated[
        list[str] | None, typer.Option("--scene", help="Name of a scene; repeat for more; default: all.")
    ] = None,
    cameras: Annotated[
        bool, typer.Option("--cameras", help="In Parquet, list the cameras that see a voxel, not only the agents.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Run ``uavsim occupancy``."""
    from uavsim.access import open_folder
    from uavsim.files.result_folder import check_result_beside
    from uavsim.occupancy.further import choices_of
    from uavsim.occupancy.run import write_voxels

    for folder in (out, scan_cache or out):
        check_result_beside(dataset, folder)
    data, further = open_folder(dataset), [open_folder(folder) for folder in scan or []]
    voxel_format, shape = choices_of(format_, grid, cameras=cameras)
    voxels = write_voxels(
        data, out, voxel_format, shape, of=of or (), scans=further, scenes=scenes or (), scan_folder=scan_cache
    )
    sizes = dict(voxels)
    if as_json:
        write_out(json.dumps({"files": sizes}))
    else:
        total, count = sum(sizes.values()), max(len(sizes), 1)
        Screen().print(
            f"wrote {len(sizes)} files to {out}: {total / 1e6:.1f} MB, {total / count / 1e3:.0f} kB each",
            highlight=False,
        )
