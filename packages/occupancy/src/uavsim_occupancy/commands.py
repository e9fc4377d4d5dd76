"""``uavsim occupancy``: voxels of a dataset's samples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from uavsim.errors import InputError
from uavsim.registry import pick
from uavsim.terminal import Screen, write_out
from uavsim.typing import JsonDict

if TYPE_CHECKING:
    from uavsim.access import Dataset

__all__ = ["label_folder", "register"]


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command(name="occupancy")(occupancy)


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
        typer.Option("--of", help="An agent (0, v0) or a channel whose grid is wanted; may be repeated."),
    ] = None,
    scan: Annotated[
        list[Path] | None, typer.Option("--scan", help="A further dataset that shows the same towns; may be repeated.")
    ] = None,
    kept: Annotated[
        Path | None, typer.Option(help="Folder where scans of scenes are kept and found; default: scans in --out.")
    ] = None,
    scenes: Annotated[
        list[str] | None, typer.Option("--scene", help="A scene's name; may be repeated; default: all.")
    ] = None,
    cameras: Annotated[
        bool, typer.Option("--cameras", help="In Parquet, say which cameras see a voxel, not only which agents.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of text.")] = False,
) -> None:
    """Label voxels: what stands, what moves, what is air, and who sees it."""
    from uavsim.access import open_folder

    data, further = open_folder(dataset), [open_folder(folder) for folder in scan or []]
    choices = {"of": of or (), "scans": further, "scenes": scenes or (), "kept": kept}
    sizes = _written(data, out, format_, grid, cameras=cameras, **choices)
    if as_json:
        write_out(json.dumps({"files": sizes}))
    else:
        total, count = sum(sizes.values()), max(len(sizes), 1)
        Screen().print(
            f"wrote {len(sizes)} files to {out}: {total / 1e6:.1f} MB, {total / count / 1e3:.0f} kB each",
            highlight=False,
        )


def label_folder(folder: Path, settings: JsonDict) -> None:
    """Label a dataset as its YAML's ``labels: {occupancy: ...}`` says, into ``occupancy`` of its folder.

    Raises:
        InputError: no such format or grid.
        DatasetError: no depth or masks.
    """
    from uavsim.access import open_folder

    cameras, of = settings["cameras"], settings["of"]
    _written(open_folder(folder), folder / "occupancy", settings["format"], settings["grid"], cameras=cameras, of=of)


def _written(
    data: Dataset, out: Path, format_: str, grid: str | None, *, cameras: bool, **choices: Any
) -> dict[str, int]:
    """Write the voxels; returns sizes of files by name."""
    from functools import partial

    from uavsim.config.load import parse
    from uavsim_occupancy.files import FORMATS, parquet_files
    from uavsim_occupancy.grids import GRIDS, grid_of_values
    from uavsim_occupancy.run import write_voxels

    how = pick(FORMATS, format_, what="format")
    if cameras and format_ != "parquet":
        raise InputError("--cameras: only --format parquet says it; others have one mask of an agent")
    wanted = grid or how.grid
    own = Path(wanted)
    of_file = own.suffix in {".yaml", ".yml"}
    shape = grid_of_values(parse(own), name=str(own)) if of_file else pick(GRIDS, wanted, what="grid")
    files = partial(parquet_files, cameras=True) if cameras else None
    return dict(write_voxels(data, out, how, shape, files=files, **choices))
