"""nerfstudio: ``<scene>/transforms.json`` with exact poses, and a seed point cloud from depth images.

The world is the map frame; cameras have OpenGL's axes (x right, y up, z back) and OpenCV's lenses. The seed cloud
``sparse.ply``, from which splatfacto starts, samples every depth image and includes moving objects. Frames are keyframes and
sweeps; each holds its drone, its time, the sample at a keyframe, and ``mask_path``, black on moving objects.
Source: nerfstudio docs, "Data conventions".
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from uavsim.access import Image, Scene
from uavsim.errors import InputError
from uavsim.exports.formats.movers import all_images, depth_step_px, moving_pixels, still_ids, write_mask
from uavsim.exports.formats.point_clouds import ply_bytes
from uavsim.exports.formats.request import ExportRequest, exporter
from uavsim.exports.formats.text import write_json
from uavsim.files.bring import bring_file
from uavsim.files.results import ResultPath
from uavsim.files.whole import write_whole
from uavsim.typing import AnyArray, FloatArray, IntArray, JsonDict, UInt8Array

_OPTICAL_T_OPENGL: Final = np.diag([1.0, -1.0, -1.0, 1.0])
_CLOUD: Final = "sparse.ply"
_COEFFICIENTS: Final = {"brown_conrady": ("k1", "k2", "p1", "p2", "k3"), "equidistant": ("k1", "k2", "k3", "k4")}


@exporter
def export_nerfstudio(request: ExportRequest) -> list[Path]:
    """Write a folder for each scene; images are hard-linked.

    Raises:
        DatasetError: an image is missing.
    """
    out = ResultPath.open(request.out)
    return [_scene(scene, out / scene.name).display_path for scene in request.scenes()]


def _scene(scene: Scene, folder: ResultPath) -> ResultPath:
    still, number_of = still_ids(scene), {sample.timestamp_us: sample.number for sample in scene}
    images = all_images(scene)
    frames = [_frame(image, number_of.get(image.timestamp_us), still, folder) for image in images]
    content: JsonDict = {"camera_model": _model(scene.name, images), "aabb_scale": 16, "frames": frames}
    points_map_m, colours = _cloud(images)
    if len(points_map_m):
        columns: dict[str, AnyArray] = dict(zip("xyz", points_map_m.astype("<f4").T, strict=True))
        columns |= zip(("red", "green", "blue"), colours.T, strict=True)
        write_whole(folder / _CLOUD, ply_bytes(columns))
        content["ply_file_path"] = _CLOUD
    write_json(folder / "transforms.json", content)
    return folder


def _model(name: str, images: Sequence[Image]) -> str:
    """Return the camera model of a scene's file.

    Raises:
        InputError: the scene has fisheye and other lenses, and nerfstudio allows one model per file.
    """
    models = {image.lens.model if image.lens else "" for image in images}
    if "equidistant" not in models:
        return "OPENCV"
    if len(models) > 1:
        raise InputError(f"{name}: nerfstudio has one camera model per file, but not all lenses are fisheyes")
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
    """Return (N, 3) map points, metres, and (N, 3) colours, sampled from all depth images."""
    images = [image for image in images if "depth" in image.layers]
    if not images:
        return np.zeros((0, 3)), np.zeros((0, 3), dtype=np.uint8)
    clouds = [image.points_map_m(every_px=depth_step_px(images)) for image in images]
    return np.concatenate([points for points, _ in clouds]), np.concatenate([colours for _, colours in clouds])
