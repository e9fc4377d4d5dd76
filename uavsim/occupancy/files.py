"""Files of voxels: Parquet, Occ3D, UniOcc, OccuFly and SurroundOcc; each format is a function of one labelled sample.

A Parquet file has one row for each layer of equal x, with values as bytes in C order (z fastest), little-endian; Parquet's
integers would take 32 bits: ``semantics``, ``instance`` (1 + the row in the metadata's ``objects``) and ``seen``, one bit for
each of the metadata's ``seers``: agents, or cameras with ``cameras``. Flow follows exactly from the objects' motion to the
samples before and after, and is not stored for each voxel.
"""

import glob
import io
import json
import math
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, TypeAlias

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from uavsim.access import Boxes, Sample, Scene
from uavsim.errors import DatasetError
from uavsim.files.names import check_part
from uavsim.files.parquet import import_pyarrow
from uavsim.files.parquet_pages import unpacked_bytes
from uavsim.files.parse import parse_json, read_regular
from uavsim.geometry.se3 import SE3
from uavsim.occupancy.classes import FREE, NAMES, UNKNOWN, classes_of_categories, occufly_classes, uniocc_classes
from uavsim.occupancy.grids import MOST_VOXELS, Grid
from uavsim.occupancy.npz import ArrayKind, npz_bytes, read_npz
from uavsim.occupancy.sample import Occupancy
from uavsim.records.channels import agent_id
from uavsim.typing import AnyArray, FloatArray, JsonDict, UInt8Array

__all__ = ["FORMATS", "Labelled", "VoxelFormat", "Voxels", "read_occ3d", "read_voxels", "voxels_file", "voxels_of"]

_MOST_FILE_BYTES: Final = 1 << 27
_SPARE_BYTES: Final = 1 << 16  # page headers of a column
_DAMAGED: Final = (
    ArithmeticError,
    AttributeError,
    LookupError,
    OSError,
    RecursionError,
    TypeError,
    ValueError,
)
_LAYERS_AT_ONCE: Final = 16
_LEVEL: Final = 12  # of zstd: two thirds of the default level's size for 0.1 s a sample


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """The voxels of one sample with further content of files.

    Attributes:
        scene: the scene.
        sample: the sample.
        voxels: the voxels.
        agent: owner of the grid: an agent as channels name it, the channel of a camera or lidar, or ``swarm``.
        near: returns the grid at the sample before (-1) or after (+1); None without one.
        height_m: returns the height of the agent's first camera above the ground at the start of the scene, metres.
    """

    scene: Scene
    sample: Sample
    voxels: Occupancy
    agent: str
    near: Callable[[int], Grid | None]
    height_m: Callable[[], float]

    @property
    def owner(self) -> str | None:
        """The agent that owns the grid; None for the swarm."""
        return None if self.agent == "swarm" else agent_id(self.agent) if "_" in self.agent else self.agent

    @property
    def token(self) -> str:
        """The sample's token as part of a file name.

        Raises:
            DatasetError: the token cannot be part of a file name.
        """
        return check_part(self.sample.token, what="sample token")

    def boxes_at(self, step: int) -> Boxes | None:
        """Return the boxes of the sample before (-1) or after (+1); None without one."""
        number = self.sample.number + step
        return self.scene.samples[number].boxes if 0 <= number < len(self.scene) else None


Files: TypeAlias = dict[str, bytes]


@dataclass(frozen=True, slots=True)
class VoxelFormat:
    """One format of voxel files.

    Attributes:
        grid: name of its default grid.
        files: returns the files of a sample: name -> bytes.
        about: returns files about all scenes, given (scene, agent, names of files) of each.
    """

    grid: str
    files: Callable[[Labelled], Files]
    about: Callable[[list[tuple[str, str, list[str]]]], Files] = lambda _scenes: {}


def parquet_files(labelled: Labelled, *, cameras: bool = False) -> Files:
    """Return the Parquet file of a sample; ``cameras`` stores visibility for each camera, not for each agent."""
    voxels, boxes = labelled.voxels, labelled.sample.boxes
    seers = voxels.channels if cameras else tuple(dict.fromkeys(voxels.agents))
    width = next(bits for bits in (8, 16, 32, 64) if len(seers) <= bits)
    kind = np.dtype(f"<u{width // 8}")
    seen_bits = voxels.visible_bits.astype(kind) if cameras else np.zeros(voxels.semantics.shape, dtype=kind)
    if not cameras:
        for bit, agent in enumerate(seers):
            seen_bits |= voxels.seen_by(agent).astype(kind) << kind.type(bit)
    present = set(np.flatnonzero(np.bincount(voxels.instance.ravel())).tolist())
    about: JsonDict = {
        "sample": labelled.sample.token,
        "grid": voxels.grid.metadata,
        "classes": list(NAMES),
        "unknown": UNKNOWN,
        "types": {"semantics": "|u1", "instance": "<u2", "seen": seen_bits.dtype.str},
        "seers": list(seers),
        "eyes_m": [eye.tolist() for eye in _eyes(labelled, seers, voxels.channels if cameras else voxels.agents)],
        "objects": [
            {"instance": token, "category": name, **_motion(labelled, row)} if row + 1 in present else {}
            for row, (token, name) in enumerate(zip(boxes.instance_tokens, boxes.categories, strict=True))
        ],
    }
    arrays: dict[str, AnyArray] = {"semantics": voxels.semantics, "instance": voxels.instance, "seen": seen_bits}
    return {f"{_folder(labelled)}/{labelled.token}.parquet": voxels_file(arrays, about)}


def voxels_file(arrays: Mapping[str, AnyArray], about: JsonDict) -> bytes:
    """Return a Parquet file of (X, Y, Z) arrays by name and their metadata."""
    pa, pq = import_pyarrow()
    columns = {name: pa.array([layer.tobytes() for layer in values]) for name, values in arrays.items()}
    table = pa.table(columns).replace_schema_metadata({"uavsim": json.dumps(about, sort_keys=True)})
    data = io.BytesIO()
    pq.write_table(
        table, data, compression="zstd", compression_level=_LEVEL, use_dictionary=False, write_statistics=False
    )
    return data.getvalue()


_Side = Annotated[int, Field(ge=1, le=10_000)]


class _GridMetadata(BaseModel):
    """The grid in a file's metadata."""

    model_config = ConfigDict(allow_inf_nan=False)
    size: tuple[_Side, _Side, _Side]
    voxel_m: float = Field(gt=0, le=1000)
    low_m: tuple[float, float, float]
    map_quat_wxyz_grid: tuple[float, float, float, float]
    map_from_grid_m: tuple[float, float, float]


class _Metadata(BaseModel):
    """The validated part of a file's metadata."""

    model_config = ConfigDict(allow_inf_nan=False)
    grid: _GridMetadata
    types: dict[Literal["semantics", "instance", "seen"], Literal["|u1", "<u2", "<u4", "<u8"]]
    seers: list[str] = Field(max_length=64)
    eyes_m: list[tuple[float, float, float]] = Field(default=[], max_length=64)


def read_voxels(path: Path) -> tuple[dict[str, AnyArray], JsonDict]:
    """Read a Parquet file of voxels: (X, Y, Z) arrays by name, and its metadata.

    Raises:
        DatasetError: the file is missing, damaged or too large, or holds an invalid class.
        InputError: pyarrow is not installed.
    """
    pa, pq = import_pyarrow()
    try:
        data = read_regular(path, most_bytes=_MOST_FILE_BYTES)
        file = pq.ParquetFile(io.BytesIO(data))
        about: JsonDict = parse_json(file.schema_arrow.metadata[b"uavsim"])
        checked = _Metadata.model_validate(about)
        size, types = checked.grid.size, {name: np.dtype(kind) for name, kind in checked.types.items()}
        if np.prod(size, dtype=float) > MOST_VOXELS or file.metadata.num_rows != size[0]:
            raise ValueError(
                f"{file.metadata.num_rows} layers for a grid of {size}; the limit is {MOST_VOXELS:,} voxels"
            )
        if types["semantics"].itemsize != 1 or len(checked.seers) > 8 * types.get("seen", np.dtype("u8")).itemsize:
            raise ValueError("semantics has more than 8 bits, or seen has fewer bits than seers")
        array_bytes = {name: math.prod(size) * kind.itemsize for name, kind in types.items()}
        _check_bytes(file.metadata, unpacked_bytes(data), sum(array_bytes.values()))
        arrays: dict[str, AnyArray] = {
            name: _layers(file, name, np.empty(size, dtype)) for name, dtype in types.items()
        }
        check_classes(arrays["semantics"])
        return arrays, about
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise DatasetError(f"{path}: not a voxel file: metadata {where[:80]!a}: {first['msg'][:120]}") from error
    except (pa.ArrowException, *_DAMAGED) as error:
        raise DatasetError(f"{path}: not a voxel file: {' '.join(str(error).split())[:200]}") from error


def read_occ3d(path: Path, *names: str, size: tuple[int, ...] = ()) -> list[AnyArray]:
    """Read (X, Y, Z) uint8 classes, and other arrays of the same shape, from a file in Occ3D's form.

    Args:
        path: the file.
        names: names of the other arrays, such as ``mask_camera``.
        size: expected shape; () for any.

    Raises:
        DatasetError: the file is damaged, or an array has another shape or type or holds an invalid class.
    """
    most_bytes = 8 * MOST_VOXELS
    (classes,) = read_npz(path, {"semantics": ArrayKind("iu", size or (None,) * 3)}, most_bytes=most_bytes).values()
    if not 0 < classes.size <= MOST_VOXELS:
        raise DatasetError(f"{path}: grid of {classes.shape}; the limits are 1 and {MOST_VOXELS:,} voxels")
    try:
        check_classes(classes)
    except ValueError as error:
        raise DatasetError(f"{path}: {error}") from error
    kind = ArrayKind("biu", classes.shape, 1)
    return [classes.astype(np.uint8), *read_npz(path, dict.fromkeys(names, kind)).values()]


def check_classes(semantics: AnyArray) -> None:
    """Refuse invalid classes in (...) voxels.

    Raises:
        ValueError: a class is invalid.
    """
    wrong = semantics[((semantics < 0) | (semantics > FREE)) & (semantics != UNKNOWN)]
    if len(wrong):
        raise ValueError(f"a voxel has class {wrong[0]}; classes are 0 to {FREE}, and {UNKNOWN} is unknown")


def _check_bytes(metadata: Any, file_bytes: int, array_bytes: int) -> None:
    """Refuse a file with more bytes than its arrays, before reading it.

    This must not access columns of row groups, because pyarrow 26 ends the process if they are damaged.

    Raises:
        ValueError: the file is too large.
    """
    if file_bytes > array_bytes + (8 * metadata.num_rows + _SPARE_BYTES) * metadata.num_columns:
        raise ValueError(f"{file_bytes:,} unpacked bytes for arrays of {array_bytes:,} bytes")


def _layers(file: Any, name: str, array: AnyArray) -> AnyArray:
    """Fill an (X, Y, Z) array with the layers of a column, a few at a time, since damaged files can repeat layers.

    Raises:
        ValueError: a layer has another size, or there is another number of layers.
    """
    x, layer_bytes = 0, array[0].nbytes
    for batch in file.iter_batches(_LAYERS_AT_ONCE, columns=[name]):
        for value in batch.column(0):
            layer = value.as_buffer()
            if layer is None or layer.size != layer_bytes or x == len(array):
                raise ValueError(f"{name} has a layer without {layer_bytes:,} bytes, or more than {len(array)} layers")
            array[x] = np.frombuffer(layer, array.dtype).reshape(array.shape[1:])
            x += 1
    if x != len(array):
        raise ValueError(f"{name} has {x} layers; its grid has {len(array)}")
    return array


@dataclass(frozen=True, slots=True, eq=False)
class Voxels:
    """Occupied voxels of one grid in a sample.

    Attributes:
        grid: name of the grid: ``swarm``, an agent, or a channel.
        centres_map_m: (N, 3) centres in the map frame, metres.
        quat_wxyz: (4,) rotation of the grid in the map frame.
        voxel_m: edge of a voxel.
        classes: (N,) class numbers.
        names: names of all classes.
    """

    grid: str
    centres_map_m: FloatArray
    quat_wxyz: FloatArray
    voxel_m: float
    classes: UInt8Array
    names: tuple[str, ...]


def voxels_of(folder: Path, sample: Sample) -> list[Voxels]:
    """Return the occupied voxels of a sample for each grid with a Parquet file in a folder.

    Raises:
        DatasetError: a file is damaged.
    """
    found = []
    token = check_part(sample.token, what="sample token")
    for path in sorted(folder.glob(f"*/*/{glob.escape(token)}.parquet")):
        arrays, about = read_voxels(path)
        grid, semantics = about["grid"], arrays["semantics"]
        pose = SE3(np.array(grid["map_quat_wxyz_grid"]), np.array(grid["map_from_grid_m"]))
        centres_m: FloatArray = np.asarray((np.argwhere(semantics < FREE) + 0.5) * grid["voxel_m"])
        found.append(
            Voxels(
                grid=path.parent.name,
                centres_map_m=pose.apply(centres_m),
                quat_wxyz=pose.quat_wxyz,
                voxel_m=grid["voxel_m"],
                classes=semantics[semantics < FREE],
                names=NAMES,
            )
        )
    return found


def occ3d_files(labelled: Labelled) -> Files:
    """Return Occ3D's file of a sample; unknown voxels are free and in no mask."""
    voxels = labelled.voxels
    visible = voxels.seen_by(labelled.owner)
    known = voxels.semantics != UNKNOWN
    arrays = {
        "semantics": np.where(known, voxels.semantics, FREE).astype(np.uint8),
        "mask_lidar": (voxels.lidar & known).astype(np.uint8),
        "mask_camera": (visible & known).astype(np.uint8),
    }
    scene = check_part(labelled.scene.name, what="scene")
    root = check_part(labelled.agent, what="agent")
    return {f"{root}/gts/{scene}/{labelled.token}/labels.npz": npz_bytes(arrays)}


def surroundocc_files(labelled: Labelled) -> Files:
    """Return SurroundOcc's file of a sample: (N, 4) x, y, z, class; class 0, ``others``, becomes 255, which is ignored."""
    semantics = labelled.voxels.semantics
    indices = np.argwhere(semantics < FREE)
    classes = semantics[semantics < FREE].astype(np.int64)
    data = np.column_stack([indices, np.where(classes == 0, 255, classes)]).astype(np.int64)
    return {f"samples/{labelled.token}.npy": _npy(data)}


def uniocc_files(labelled: Labelled) -> Files:
    """Return UniOcc's file of a sample: labels, masks, flow in voxels, poses, cameras and objects."""
    voxels, sample = labelled.voxels, labelled.sample
    frame = voxels.grid.map_SE3_frame
    boxes = sample.boxes
    kinds = uniocc_classes(classes_of_categories(boxes.categories))
    inside = voxels.grid.holds(voxels.grid.voxels_of(boxes.map_SE3_box.translation_m))
    objects = [
        {
            "token": boxes.instance_tokens[row],
            "agent_to_ego": (frame.inverse() @ boxes.map_SE3_box[row]).matrix,
            "agent_to_world": boxes.map_SE3_box[row].matrix,
            "size": boxes.size_lwh_m[row].tolist(),
            "category_id": int(kinds[row]),
        }
        for row in np.flatnonzero(inside).tolist()
    ]
    images = [i for i in sample.images if labelled.owner in {None, agent_id(i.channel)}]
    cameras = [
        {
            "name": image.channel,
            "filename": image.filename,
            "intrinsics": image.intrinsic,
            "extrinsics": (frame.inverse() @ image.map_SE3_optical).matrix,
        }
        for image in images
    ]
    arrays: dict[str, Any] = {
        "occ_label": uniocc_classes(voxels.semantics),
        "occ_mask_camera": voxels.seen_by(labelled.owner).astype(np.uint8),
        "occ_flow_forward": _flow_voxels(labelled, +1),
        "occ_flow_backward": _flow_voxels(labelled, -1),
        "ego_to_world_transformation": frame.matrix,
        "cameras": _objects(cameras),
        "annotations": _objects(objects),
    }
    return {f"{_folder(labelled)}/{sample.number}.npz": npz_bytes(arrays)}


def uniocc_about(scenes: list[tuple[str, str, list[str]]]) -> Files:
    """Return UniOcc's list of scenes, one for each agent of a scene."""
    infos = [{"scene_name": f"{scene}_{agent}", "occ_in_scene_paths": paths} for scene, agent, paths in scenes]
    return {"scene_infos.pkl": pickle.dumps(infos, protocol=4)}


def occufly_files(labelled: Labelled) -> Files:
    """Return OccuFly's files of a camera's frustum in a sample: classes, and three masks of one bit per voxel.

    ``invalid`` voxels are outside the image or unknown, ``occluded`` ones are other voxels that the camera does not see,
    ``surface`` ones are occupied beside an empty voxel. Camera channels are OccuFly's scenes, heights above the ground in
    metres its altitudes.
    """
    voxels, sample, grid = labelled.voxels, labelled.sample, labelled.voxels.grid
    image = next(image for image in sample.images if image.channel == labelled.agent)
    within = np.zeros(grid.size, dtype=np.bool_)
    for x, layer in enumerate(within):
        voxels_of_layer = np.insert(np.argwhere(~layer), 0, x, axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            pixels = image.project(grid.centres_map_m(voxels_of_layer))
            layer[:] = ((pixels >= 0) & (pixels < image.size_px)).all(axis=1).reshape(layer.shape)
    invalid = ~within | (voxels.semantics == UNKNOWN)
    masks = {
        "invalid": invalid,
        "occluded": ~invalid & ~voxels.seen_by(channel=labelled.agent),
        "surface": voxels.occupied & ~_inner(voxels.occupied),
    }
    frame, scene = f"{sample.number:06d}", check_part(f"{labelled.scene.name}_{labelled.agent}", what="scene")
    root = f"OccuFly_Dataset/{scene}/{round(labelled.height_m())}"
    files = {f"{root}/ground_truth/{frame}/{frame}.{name}": np.packbits(mask).tobytes() for name, mask in masks.items()}
    files[f"{root}/ground_truth/{frame}/{frame}.label"] = occufly_classes(voxels.semantics).tobytes()
    files[f"{root}/depth_maps/{frame}.npy"] = _npy(np.nan_to_num(image.depth_m(), posinf=0.0).astype(np.float32))
    return {**files, f"{root}/images/visual/{frame}.png": image.bytes()}


def _inner(mask: AnyArray) -> AnyArray:
    """Return (X, Y, Z) whether a voxel and its six neighbours are marked; voxels beyond the grid are not marked."""
    padded = np.pad(mask, 1)
    sides = [np.roll(padded, step, axis)[1:-1, 1:-1, 1:-1] for axis in range(3) for step in (-1, 1)]
    return np.asarray(np.logical_and.reduce([mask, *sides]))


FORMATS: Final[Mapping[str, VoxelFormat]] = MappingProxyType(
    {
        "parquet": VoxelFormat("swarm", parquet_files),
        "occ3d": VoxelFormat("occ3d", occ3d_files),
        "uniocc": VoxelFormat("occ3d", uniocc_files, uniocc_about),
        "occufly": VoxelFormat("occufly", occufly_files),
        "surroundocc": VoxelFormat("surroundocc", surroundocc_files),
    }
)


def _folder(labelled: Labelled) -> str:
    return f"{check_part(labelled.scene.name, what='scene')}/{check_part(labelled.agent, what='agent')}"


def _motion(labelled: Labelled, row: int) -> JsonDict:
    """Return an object's (4, 4) motions in the map to the samples before and after, if it is present there."""
    boxes, motion = labelled.sample.boxes, {}
    for name, step in (("backward", -1), ("forward", +1)):
        then = labelled.boxes_at(step)
        if then is not None and boxes.instance_tokens[row] in then.instance_tokens:
            later = then.map_SE3_box[then.instance_tokens.index(boxes.instance_tokens[row])]
            motion[name] = (later @ boxes.map_SE3_box[row].inverse()).matrix.tolist()
    return motion


def _eyes(labelled: Labelled, seers: Sequence[str], names: Sequence[str]) -> Iterator[AnyArray]:
    """Yield the (3,) position of each seer's first camera in the grid's frame, metres."""
    frame = labelled.voxels.grid.map_SE3_frame
    for seer in seers:
        yield frame.apply_inverse(labelled.sample.images[names.index(seer)].map_SE3_optical.translation_m)


def _flow_voxels(labelled: Labelled, step: int) -> AnyArray:
    """Return (X, Y, Z, 3) float32 flow to the grid of the sample before or after, in voxels."""
    voxels = labelled.voxels
    flow = np.zeros((*voxels.semantics.shape, 3), dtype=np.float32)
    then, grid = labelled.boxes_at(step), labelled.near(step)
    if then is not None and grid is not None:
        flow[voxels.occupied] = voxels.flow_m(labelled.sample.boxes, then, grid) / voxels.grid.voxel_m
    return flow


def _objects(rows: list[JsonDict]) -> AnyArray:
    """Return (N,) rows as an object array."""
    array = np.empty(len(rows), dtype=object)
    array[:] = rows
    return array


def _npy(values: AnyArray) -> bytes:
    data = io.BytesIO()
    np.save(data, values, allow_pickle=False)
    return data.getvalue()
