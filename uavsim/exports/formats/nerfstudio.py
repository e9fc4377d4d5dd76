"""nerfstudio: ``<scene>/transforms.json`` with exact poses, and a seed point cloud where depth was recorded.

Cameras are OpenGL's (x right, y up, z back), the world is the map frame; lenses are OpenCV's, as ours. The seed cloud
(``sparse.ply``, which splatfacto starts from) is taken from every depth image, thinned, what moves too. Every image is
there, those between keyframes too; each has its drone, its time, at a keyframe its sample, and ``mask_path``, black where
something moves.
Source: nerfstudio docs, "Data conventions".
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from uavsim.access import Image, Scene
from uavsim.errors import InputError
from uavsim.exports.formats.movers import all_images, moving_pixels, still_ids, write_mask
from uavsim.exports.formats.request import ExportRequest, exporter
from uavsim.exports.formats.text import write_bytes, write_json
from uavsim.files.bring import bring_file
from uavsim.files.results import ResultPath
from uavsim.typing import FloatArray, IntArray, JsonDict, UInt8Array

_OPTICAL_T_OPENGL: Final = np.diag([1.0, -1.0, -1.0, 1.0])
_MOST_POINTS: Final = 200_000
_CLOUD: Final = "sparse.ply"
_COEFFICIENTS: Final = {"brown_conrady": ("k1", "k2", "p1", "p2", "k3"), "equidistant": ("k1", "k2", "k3", "k4")}


@exporter
def export_nerfstudio(request: ExportRequest) -> list[Path]:
    """Write a folder for each scene; images are hard-linked.

    Raises:
        DatasetError: an image is missing.
    """
    out = ResultPath.open(request.out)
    return [_scene(scene, out / scene.name).shown for scene in request.scenes()]


def _scene(scene: Scene, folder: ResultPath) -> ResultPath:
    still, number_of = still_ids(scene), {sample.timestamp_us: sample.number for sample in scene}
    images = all_images(scene)
    frames = [_frame(image, number_of.get(image.timestamp_us), still, folder) for image in images]
    content: JsonDict = {"camera_model": _model(scene.name, images), "aabb_scale": 16, "frames": frames}
    points_map_m, colours = _cloud(images)
    if len(points_map_m):
        write_bytes(folder / _CLOUD, _ply(points_map_m, colours))
        content["ply_file_path"] = _CLOUD
    write_json(folder / "transforms.json", content)
    return folder


def _model(name: str, images: Sequence[Image]) -> str:
    """Return the one camera model of a scene's file.

    Raises:
        InputError: it would need two.
    """
    models = {image.lens.model if image.lens else "" for image in images}
    if "equidistant" not in models:
        return "OPENCV"
    if len(models) > 1:
        raise InputError(f"{name}: nerfstudio has one camera model a file, and not only fisheyes are here")
    return "OPENCV_FISHEYE"


def _frame(image: Image, sample: int | None, still: IntArray, folder: ResultPath) -> JsonDict:
    stem = f"{image.channel}__{image.timestamp_us}"
    name, mask = f"images/{stem}{Path(image.filename).suffix}", f"masks/{stem}.png"
    bring_file(image.files.open(image.filename), folder / name)
    moving = moving_pixels(image, still)
    if moving is not None:
        write_mask(folder / mask, moving)
    width, height = image.size_px
    return {
        "file_path": name,
        "w": width,
        "h": height,
        "fl_x": image.intrinsic[0, 0],
        "fl_y": image.intrinsic[1, 1],
        "cx": image.intrinsic[0, 2],
        "cy": image.intrinsic[1, 2],
        **(dict(zip(_COEFFICIENTS[image.lens.model], image.lens.coefficients, strict=False)) if image.lens else {}),
        "transform_matrix": (image.map_SE3_optical.matrix @ _OPTICAL_T_OPENGL).tolist(),
        "drone_id": image.drone_id,
        "timestamp_us": image.timestamp_us,
        **({} if sample is None else {"sample": sample}),
        **({} if moving is None else {"mask_path": mask}),
    }


def _cloud(images: Sequence[Image]) -> tuple[FloatArray, UInt8Array]:
    """Return (N, 3) map points and (N, 3) colours of all depth images, thinned by whole lines and columns."""
    images = [image for image in images if "depth" in image.layers]
    if not images:
        return np.zeros((0, 3)), np.zeros((0, 3), dtype=np.uint8)
    pixels = sum(image.size_px[0] * image.size_px[1] for image in images)
    every_px = max(int(np.ceil(np.sqrt(pixels / _MOST_POINTS))), 1)
    found = [image.points_map_m(every_px=every_px) for image in images]
    return np.concatenate([points for points, _ in found]), np.concatenate([colours for _, colours in found])


def _ply(points_map_m: FloatArray, colours: UInt8Array) -> bytes:
    row = np.dtype([("place", "<f4", 3), ("colour", "u1", 3)])
    rows = np.empty(len(points_map_m), dtype=row)
    rows["place"], rows["colour"] = points_map_m, colours
    columns = [f"property float {axis}" for axis in "xyz"] + [f"property uchar {c}" for c in ("red", "green", "blue")]
    head = ["ply", "format binary_little_endian 1.0", f"element vertex {len(rows)}", *columns, "end_header", ""]
    return "\n".join(head).encode("ascii") + rows.tobytes()
