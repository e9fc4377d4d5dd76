"""AirSim's image types, derived from one raster pass of the shared renderer."""

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

import cv2
import numpy as np

from headless_simulator.airsim.host import AirSimHost, Pose6
from headless_simulator.airsim.ned import Vec3
from headless_simulator.airsim.objects import SceneObjects, Tables, image_ids
from headless_simulator.airsim.palette import SEGMENTATION_RGB
from headless_simulator.airsim.precipitation import overlay
from headless_simulator.airsim.settings import IMAGE_TYPES, Capture
from headless_simulator.errors import CallRefused
from headless_simulator.rendering import GraphicsCard, Rendering, flat_pass
from headless_simulator.rpc.messages import PackedFloats
from headless_simulator.scene import Float32, Float64, Int32, Movers, RenderedImage, UInt8, View, Weather

FAR_M: Final = 65504.0  # the largest half float, in which AirSim stores depth; also the sky's depth
VIS_M: Final = 100.0  # DepthVis is white from here on
STEREO_M: Final = 0.25  # baseline behind DisparityNormalized
PNG_LEVEL: Final = 1
SCENE, DEPTH_PLANAR, DEPTH_PERSPECTIVE, DEPTH_VIS, DISPARITY, SEGMENTATION, NORMALS, INFRARED = range(8)
_PALETTES: Final = {  # (1, 256, 3) blue, green, red of each segmentation id
    SEGMENTATION: np.ascontiguousarray(SEGMENTATION_RGB[None, :, ::-1]),
    INFRARED: np.repeat(np.arange(256, dtype=np.uint8)[None, :, None], 3, axis=2),
}
MAX_REQUESTS: Final = 200  # images in one call
_MOVER_COLUMNS: Final = [column.name for column in fields(Movers)]


@dataclass(frozen=True, slots=True)
class ImageRequest:
    """One requested image: camera pose (Unreal's axes), capture settings and image type."""

    pose: Pose6
    capture: Capture
    image_type: int
    as_float: bool
    compress: bool
    without: int = 0  # actor id of the vehicle that carries the camera, which is not drawn
    camera: int = 0  # number of the camera in a flat image


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """The world's light and lamps at the start of a call."""

    weather: Weather
    signals: UInt8
    time_s: float
    frame: int


class ImageCapture:
    """Renders images of the world at one moment; thread-safe."""

    def __init__(
        self, host: AirSimHost, objects: SceneObjects, *, object_lock: threading.RLock, rendering: Rendering
    ) -> None:
        self._host, self._objects, self._lock, self._rendering = host, objects, object_lock, rendering
        self._card = GraphicsCard(rendering.latency_s)

    def take(
        self, requests: Sequence[ImageRequest], extra: Movers, overlays: dict[str, float]
    ) -> list[bytes | PackedFloats]:
        """Render all requests of one call at the same moment.

        Args:
            requests: the images; requests of one camera and size share a raster pass.
            extra: drones, drawn in addition to the host's movers.
            overlays: strength of snow and leaves by name, which CARLA's weather lacks.
        """
        with self._lock:
            movers = join_movers(self._host.movers(), self._spawned(), extra)
            tables = self._objects.lookup(movers)
        moment = self._moment()
        images: dict[tuple[Any, ...], RenderedImage] = {}
        results = []
        for request in requests:
            key = (request.pose, request.capture, request.without, request.camera)
            if key not in images:
                types = {s.image_type for s in requests if (s.pose, s.capture, s.without, s.camera) == key}
                images[key] = self._image(request, movers, types, moment)
            results.append(self._encode(request, images[key], tables, overlays))
        return results

    def render(self, request: ImageRequest, extra: Movers) -> tuple[RenderedImage, Movers]:
        """Render one raster pass without colour, for detections."""
        with self._lock:
            movers = join_movers(self._host.movers(), self._spawned(), extra)
        return self._render(request, movers, {request.image_type}, self._moment()), movers

    def cast(
        self, origin_ue_m: Vec3, directions_ue: Float64, reach_m: float, extra: Movers, *, without: int
    ) -> tuple[Float32, Int32]:
        """Cast (N, 3) rays through the world from one point, Unreal's axes, metres.

        Returns:
            (N,) distances in metres, inf without a hit, and (N,) segmentation ids of the hits.
        """
        with self._lock:
            movers = join_movers(self._host.movers(), self._spawned(), extra)
            tables = self._objects.lookup(movers)
        movers = pick_movers(movers, movers.actor_id != without)
        distance_m, ids, tag, _ = self._host.renderer.cast(np.array(origin_ue_m), directions_ue, reach_m, movers)
        return distance_m, image_ids(ids, tag, tables)

    def _moment(self) -> Moment:
        host = self._host
        return Moment(host.weather, host.signals(), host.time_s, host.frame)

    def _image(self, request: ImageRequest, movers: Movers, types: set[int], moment: Moment) -> RenderedImage:
        self._card.make()
        if self._rendering.flat:
            return flat_pass(
                request.capture.width_px, request.capture.height_px, camera_id=request.camera, frame=moment.frame
            )
        return self._render(request, movers, types, moment)

    def _spawned(self) -> Movers:
        objects = list(self._objects.spawned.values())
        return Movers(
            model=np.array([self._host.models.scaled_number(o.blueprint, o.scale) for o in objects], dtype=np.int32),
            pose=np.array([o.pose for o in objects], dtype=np.float64).reshape(-1, 6),
            actor_id=np.array([o.number for o in objects], dtype=np.uint32),
            colour_rgb=np.full((len(objects), 3), 150, dtype=np.uint8),
            lights=np.zeros(len(objects), dtype=np.uint32),
        )

    def _render(self, request: ImageRequest, movers: Movers, types: set[int], moment: Moment) -> RenderedImage:
        if request.without and len(movers.actor_id):
            movers = pick_movers(movers, movers.actor_id != request.without)
        view = View(request.pose, request.capture.width_px, request.capture.height_px, request.capture.fov_deg)
        return self._host.renderer.render(
            view,
            movers,
            weather=moment.weather,
            signals=moment.signals,
            time_s=moment.time_s,
            want_bgra=SCENE in types,
            want_normal=NORMALS in types,
        )

    def _encode(
        self, request: ImageRequest, image: RenderedImage, tables: Tables, overlays: dict[str, float]
    ) -> bytes | PackedFloats:
        if request.image_type in (DEPTH_PLANAR, DEPTH_PERSPECTIVE, DEPTH_VIS, DISPARITY):
            values = depth_values(image.depth_m, request.capture, request.image_type)
            return PackedFloats(half(values)) if request.as_float else _bytes(_grey(values), compress=request.compress)
        bgr = self._colours(request, image, tables, overlays)
        if request.as_float:
            return PackedFloats(bgr[:, :, 2].astype(np.float32) / 255.0)
        return _bytes(bgr, compress=request.compress)

    @staticmethod
    def _colours(request: ImageRequest, image: RenderedImage, tables: Tables, overlays: dict[str, float]) -> UInt8:
        if request.image_type == SCENE:
            assert image.bgra is not None, "Scene was requested"
            bgr = np.asarray(cv2.cvtColor(image.bgra, cv2.COLOR_BGRA2BGR), np.uint8)
            return overlay(bgr, image, overlays) if overlays else bgr
        if request.image_type == NORMALS:
            assert image.normal is not None, "SurfaceNormals was requested"
            coded = np.rint((image.normal * 0.5 + 0.5) * 255).astype(np.uint8)
            coded[~np.isfinite(image.depth_m)] = 0
            return np.ascontiguousarray(coded[:, :, ::-1])
        ids: Int32 = image_ids(image.ids, image.tag, tables)
        if request.image_type in _PALETTES:
            ids_bgr = cv2.cvtColor(
                np.maximum(ids, 0).astype(np.uint8), cv2.COLOR_GRAY2BGR
            )  # hidden ones look like id 0
            return np.asarray(cv2.LUT(ids_bgr, _PALETTES[request.image_type]), np.uint8)
        name = {number: label for label, number in IMAGE_TYPES.items()}.get(request.image_type, str(request.image_type))
        raise CallRefused(f"image type {name} is not supported; use 0 (Scene) to 7 (Infrared)")


def depth_values(depth_m: Float32, capture: Capture, image_type: int) -> Float32:
    """Return the values of a depth-like image, from planar depth in metres.

    Args:
        depth_m: (H, W), infinite where there is sky.
        capture: size and field of view of the camera.
        image_type: DepthPlanar, DepthPerspective (metres), DepthVis or DisparityNormalized (0 to 1).
    """
    focal_px = capture.width_px / 2 / math.tan(math.radians(capture.fov_deg) / 2)
    depth = np.minimum(depth_m, np.float32(FAR_M))
    if image_type == DEPTH_PERSPECTIVE:
        across = (np.arange(capture.width_px, dtype=np.float32) + 0.5 - capture.width_px / 2) / focal_px
        down = (np.arange(capture.height_px, dtype=np.float32) + 0.5 - capture.height_px / 2) / focal_px
        slant = np.sqrt(1 + across[None, :] ** 2 + down[:, None] ** 2)
        along: Float32 = np.minimum(depth * slant, FAR_M).astype(np.float32)
        return along
    if image_type == DEPTH_VIS:
        return np.minimum(depth / np.float32(VIS_M), 1).astype(np.float32)
    if image_type == DISPARITY:
        shift_px = STEREO_M * focal_px / np.maximum(depth, 1e-3)
        return np.where(np.isfinite(depth_m), np.minimum(shift_px / capture.width_px, 1), 0).astype(np.float32)
    return depth.astype(np.float32)


def half(values: Float32) -> Float32:
    """Round (H, W) float32 values to half precision, as AirSim's float images."""
    rounded: Float32 = values.astype(np.float16).astype(np.float32)
    return rounded


def _grey(values: Float32) -> UInt8:
    level = np.rint(np.clip(values, 0, 1) * 255).astype(np.uint8)
    return np.repeat(level[:, :, None], 3, axis=2)


def _bytes(bgr: UInt8, *, compress: bool) -> bytes:
    """Encode (H, W, 3) BGR pixels as raw bytes, or as a PNG with an opaque alpha channel as AirSim does."""
    if not compress:
        return bgr.tobytes()
    ok, png = cv2.imencode(".png", cv2.cvtColor(bgr, cv2.COLOR_BGR2BGRA), [cv2.IMWRITE_PNG_COMPRESSION, PNG_LEVEL])
    if not ok:
        raise RuntimeError("the PNG encoder refused the image")
    return bytes(png.tobytes())


def no_movers() -> Movers:
    """Return an empty set of movers."""
    return Movers(
        model=np.zeros(0, dtype=np.int32),
        pose=np.zeros((0, 6)),
        actor_id=np.zeros(0, dtype=np.uint32),
        colour_rgb=np.zeros((0, 3), dtype=np.uint8),
        lights=np.zeros(0, dtype=np.uint32),
    )


def join_movers(*groups: Movers) -> Movers:
    """Concatenate groups of movers; a single group that is not empty is returned itself."""
    filled = [group for group in groups if len(group.actor_id)]
    if len(filled) <= 1:
        return filled[0] if filled else groups[0]
    return Movers(*(np.concatenate([getattr(group, name) for group in filled]) for name in _MOVER_COLUMNS))


def pick_movers(movers: Movers, keep: np.ndarray[Any, np.dtype[np.bool_]]) -> Movers:
    """Return the movers selected by the (N,) mask ``keep``."""
    return Movers(*(getattr(movers, name)[keep] for name in _MOVER_COLUMNS))
