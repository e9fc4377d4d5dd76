"""Voxels as part of a dataset: ``labels: {occupancy: ...}`` in its YAML; and the choices that the command has, too."""

import json
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Final

from uavsim.access import open_folder
from uavsim.access.further_labels import FurtherLabels
from uavsim.config.load import parse
from uavsim.errors import InputError
from uavsim.files.whole import write_whole
from uavsim.occupancy.files import FORMATS, Files, Labelled, VoxelFormat, parquet_files
from uavsim.occupancy.grids import GRIDS, GridShape, grid_of_values
from uavsim.occupancy.run import grids_of, write_voxels
from uavsim.registry import pick
from uavsim.typing import JsonDict

__all__ = ["OCCUPANCY", "choices_of"]


def check_settings(settings: JsonDict, cameras: Sequence[str], lidars: Sequence[str]) -> None:
    """Refuse ``labels: {occupancy: ...}`` that cannot be met.

    Args:
        settings: of the YAML.
        cameras: channels of the dataset.
        lidars: likewise.

    Raises:
        InputError: no such format, grid, agent or channel.
    """
    shape = choices_of(settings["format"], settings["grid"], cameras=settings["cameras"])[1]
    grids_of(shape, cameras=cameras, lidars=lidars, of=settings["of"])


def label_folder(folder: Path, settings: JsonDict) -> None:
    """Label a dataset as its YAML's ``labels: {occupancy: ...}`` says, into ``occupancy`` of its folder.

    What was made of the same tables with the same settings stays.

    Raises:
        InputError: no such format, grid, agent or channel.
        DatasetError: no depth or masks.
    """
    data, out = open_folder(folder), folder / "occupancy"
    made, content = out / "made_of.txt", blake2b(json.dumps(settings, sort_keys=True).encode())
    for table in sorted((folder / data.version).glob("*.json")):
        content.update(table.read_bytes())
    if made.is_file() and made.read_text("utf-8", errors="replace") == content.hexdigest():
        return
    made.unlink(missing_ok=True)
    how, shape, files = choices_of(settings["format"], settings["grid"], cameras=settings["cameras"])
    for _ in write_voxels(data, out, how, shape, files=files, of=settings["of"]):
        pass  # each is written when it is asked for
    write_whole(made, content.hexdigest().encode())


OCCUPANCY: Final = FurtherLabels(check_settings, label_folder)
"""``labels: {occupancy: ...}`` of a dataset's YAML."""


def choices_of(
    format_: str, grid: str | None, *, cameras: bool
) -> tuple[VoxelFormat, GridShape, Callable[[Labelled], Files] | None]:
    """Look up a format, a grid and, where another than the format's is wanted, a function for files.

    Raises:
        InputError: no such format or grid, or they do not go together.
    """
    how = pick(FORMATS, format_, what="format")
    if cameras and format_ != "parquet":
        raise InputError("--cameras: only --format parquet says it; others have one mask of an agent")
    wanted = grid or how.grid
    own = Path(wanted)
    of_file = own.suffix in {".yaml", ".yml"}
    shape = grid_of_values(parse(own), name=str(own)) if of_file else pick(GRIDS, wanted, what="grid")
    if format_ == "occufly" and shape.frame != "camera":
        raise InputError(
            f"--grid {wanted}: OccuFly's files are of a camera's frustum; this grid's frame is {shape.frame}"
        )
    return how, shape, partial(parquet_files, cameras=True) if cameras else None
