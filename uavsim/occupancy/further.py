"""Voxels as part of a dataset: ``labels: {occupancy: ...}`` in its YAML; and the choices that the command has, too."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from pathlib import Path

from uavsim.access import open_folder
from uavsim.config.dataset import VoxelLabels
from uavsim.config.load import parse
from uavsim.dataset.layout import BEV_CHANNEL
from uavsim.errors import InputError
from uavsim.files.whole import write_whole
from uavsim.occupancy.files import FORMATS, Files, Labelled, VoxelFormat, parquet_files
from uavsim.occupancy.grids import GRIDS, GridShape, grid_of_values
from uavsim.occupancy.run import grids_of, write_voxels
from uavsim.records.sensors import SensorSpec
from uavsim.registry import pick
from uavsim.typing import JsonDict

__all__ = ["check_settings", "choices_of", "label_folder", "voxel_labeller"]


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


def voxel_labeller(asked: VoxelLabels, sensors: Mapping[str, SensorSpec]) -> Callable[[Path], None]:
    """Return the function that labels a finished dataset as ``labels: {occupancy: ...}`` of its YAML says.

    Args:
        asked: the settings of the YAML.
        sensors: of the dataset, by channel.

    Raises:
        InputError: a camera has no depth, or there is no such format, grid, agent or channel.
    """
    blind = [spec.name for spec in sensors.values() if spec.params.is_optical and "depth" not in spec.modalities]
    if blind:
        raise InputError(f"camera {blind[0]} takes no depth, of which voxels are made: add depth to its rig's sensors")
    settings = asked.model_dump()
    cameras, lidars = (
        [name for name, spec in sensors.items() if spec.params.prefix == kind] for kind in ("CAMERA", "LIDAR")
    )
    check_settings(settings, cameras, list(dict.fromkeys([BEV_CHANNEL, *lidars])))  # every nuScenes sample has that one
    return lambda folder: label_folder(folder, settings)


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
