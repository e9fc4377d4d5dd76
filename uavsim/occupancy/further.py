"""Voxels as labels of a dataset, ``labels: {occupancy: ...}`` in its YAML, and options shared with ``uavsim occupancy``."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from pathlib import Path

from uavsim.access import open_folder
from uavsim.config.dataset import VoxelLabels
from uavsim.config.load import parse
from uavsim.dataset.layout import BEV_CHANNEL
from uavsim.errors import InputError
from uavsim.files.whole import write_whole
from uavsim.occupancy.files import FORMATS, VoxelFormat, parquet_files
from uavsim.occupancy.grids import GRIDS, GridShape, grid_of_values
from uavsim.occupancy.run import grids_of, write_voxels
from uavsim.records.sensors import SensorSpec
from uavsim.registry import pick
from uavsim.typing import JsonDict


def check_settings(settings: JsonDict, cameras: Sequence[str], lidars: Sequence[str]) -> None:
    """Refuse invalid ``labels: {occupancy: ...}``.

    Args:
        settings: settings of the YAML.
        cameras: channels of the dataset's cameras.
        lidars: channels of the dataset's lidars.

    Raises:
        InputError: no such format, grid, agent or channel.
    """
    shape = choices_of(settings["format"], settings["grid"], cameras=settings["cameras"])[1]
    grids_of(shape, cameras=cameras, lidars=lidars, of=settings["of"])


def label_folder(folder: Path, settings: JsonDict) -> None:
    """Write the voxels of a dataset by ``labels: {occupancy: ...}`` into its folder ``occupancy``.

    Voxels of the same tables with the same settings are kept.

    Raises:
        InputError: no such format, grid, agent or channel, or a camera without depth or masks.
    """
    data, out = open_folder(folder), folder / "occupancy"
    stamp, content = out / "made_of.txt", blake2b(json.dumps(settings, sort_keys=True).encode())
    for table in sorted((folder / data.version).glob("*.json")):
        content.update(table.read_bytes())
    if stamp.is_file() and stamp.read_text("utf-8", errors="replace") == content.hexdigest():
        return
    stamp.unlink(missing_ok=True)
    voxel_format, shape = choices_of(settings["format"], settings["grid"], cameras=settings["cameras"])
    for _ in write_voxels(data, out, voxel_format, shape, of=settings["of"]):
        pass  # the iterator writes the files
    write_whole(stamp, content.hexdigest().encode())


def voxel_labeller(labels: VoxelLabels, sensors: Mapping[str, SensorSpec]) -> Callable[[Path], None]:
    """Return a function that writes the voxels of a finished dataset by ``labels: {occupancy: ...}``.

    Args:
        labels: the settings of the YAML.
        sensors: sensors of the dataset by channel.

    Raises:
        InputError: a camera has no depth, or there is no such format, grid, agent or channel.
    """
    blind = [spec.name for spec in sensors.values() if spec.params.is_optical and "depth" not in spec.modalities]
    if blind:
        raise InputError(f"camera {blind[0]} has no depth, which voxels need; add depth to its rig's sensors")
    settings = labels.model_dump()
    cameras, lidars = (
        [name for name, spec in sensors.items() if spec.params.prefix == kind] for kind in ("CAMERA", "LIDAR")
    )
    check_settings(settings, cameras, list(dict.fromkeys([BEV_CHANNEL, *lidars])))  # every sample has LIDAR_TOP
    return lambda folder: label_folder(folder, settings)


def choices_of(format_: str, grid: str | None, *, cameras: bool) -> tuple[VoxelFormat, GridShape]:
    """Return a format and a grid.

    Args:
        format_: name of the format.
        grid: name of a grid, or path of a YAML file; default: the format's grid.
        cameras: store visibility for each camera.

    Raises:
        InputError: no such format or grid, or they do not fit each other.
    """
    voxel_format = pick(FORMATS, format_, what="format")
    if cameras and format_ != "parquet":
        raise InputError("--cameras needs --format parquet; other formats have one mask for each agent")
    grid = grid or voxel_format.grid
    path = Path(grid)
    is_file = path.suffix in {".yaml", ".yml"}
    shape = grid_of_values(parse(path), name=str(path)) if is_file else pick(GRIDS, grid, what="grid")
    if format_ == "occufly" and shape.frame != "camera":
        raise InputError(f"--grid {grid}: OccuFly needs a grid with the frame camera; this one has {shape.frame}")
    if cameras:
        voxel_format = replace(voxel_format, files=partial(parquet_files, cameras=True))
    return voxel_format, shape
