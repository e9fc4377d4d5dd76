"""What a sensor is, said once: how it is asked for, read from each simulator, stored, and called in the tables.

Spawning, capture, recording, layout, tables, labels and exports take everything that is particular to one sensor from its
``Modality``. Another package adds sensors with the entry point group ``uavsim.modalities`` (docs/how-to-add-a-sensor.md).

Arrays as captured, by modality:

| name | array |
|---|---|
| ``rgb`` | (H, W, 3 or 4) uint8, blue first |
| ``instance`` | as read, CARLA's encoding in (H, W, 3 or 4) uint8; as stored, ids (H, W) uint16 and tags (H, W) uint8 |
| ``depth`` | (H, W) float32 metres along the optical axis |
| ``optical_flow`` | (H, W, 2) float32 pixels, right and down, that what is shown has moved since the camera's image before |
| ``lidar`` | as read, (N,) of ``images.points.RETURN``; as stored, (N, 5) float32 x, y, z, intensity, ring |
| ``lidar_instance`` | (N, 2) instance id and tag of the points of ``lidar``, which it is made with |
| ``events`` | (N,) of ``images.events.EVENT``: changes of brightness since the camera's image before, in the order of time |
| ``semantic`` | (H, W) uint8 tags of CARLA's palette (table ``semantic_tag``) |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy as np

from uavsim.errors import InputError, MissedTick
from uavsim.images import codec, events, flow, points
from uavsim.images.codec import ImageSource
from uavsim.images.points import Returns
from uavsim.records.plan import ImageFormat, LidarSpec
from uavsim.registry import Registry
from uavsim.typing import AnyArray, UInt8Array, UInt16Array

__all__ = [
    "CAMERA_SENSORS",
    "DEPTH",
    "INSTANCE",
    "LIDAR",
    "LIDAR_INSTANCE",
    "MODALITIES",
    "RGB",
    "AirSimImage",
    "AirSimLidar",
    "CarlaSensor",
    "Modality",
    "camera_modalities",
    "camera_sensors",
    "layer_folders",
    "modalities",
    "modality",
]

RGB: Final = "rgb"
INSTANCE: Final = "instance"
DEPTH: Final = "depth"
LIDAR: Final = "lidar"
LIDAR_INSTANCE: Final = "lidar_instance"
_CARLA_DEPTH_RANGE_M: Final = 1000.0  # CARLA's 24-bit depth covers 0..1000 m


@dataclass(frozen=True, slots=True)
class CarlaSensor:
    """How CARLA gives a modality.

    Attributes:
        blueprint: what is spawned.
        read: turns the measurement that CARLA's client delivers into the array as captured.
        attributes: of the blueprint, beside those that every sensor of its kind gets.
    """

    blueprint: str
    read: Callable[[Any], AnyArray]
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AirSimImage:
    """How AirSim gives a modality: one image type of ``simGetImages``.

    Attributes:
        image_type: AirSim's number of it.
        read: turns what was taken into the array as captured. It gets (H, W) float32 where ``as_float``; else (H, W, 3)
            uint8, blue first, and of a segmentation image its colours put into CARLA's instance encoding.
        as_float: ask for numbers instead of bytes.
    """

    image_type: int
    read: Callable[[AnyArray], AnyArray]
    as_float: bool = False

    @property
    def is_segmentation(self) -> bool:
        """The image shows numbers as colours, and has to be looked up in AirSim's palette."""
        return self.image_type == _AIRSIM_SEGMENTATION


@dataclass(frozen=True, slots=True)
class AirSimLidar:
    """How AirSim gives points: ``getLidarData`` of a sensor in its settings.json.

    Attributes:
        read: turns (N, 3) points in the sensor's frd frame into returns; whose they are is found by the caller.
    """

    read: Callable[[AnyArray, LidarSpec], Returns]


@dataclass(frozen=True, slots=True)
class Modality:
    """One kind of measurement.

    Attributes:
        name: as in a rig's ``sensors`` and in the column ``kind`` of the table ``layer``.
        kind: an image of a camera, events of a camera, or points of the rig's lidar.
        folder: where its files lie in the data set, below it ``<CHANNEL>/``; "" puts them into ``samples/`` and
            ``sweeps/`` as the channel's own ``sample_data``.
        suffix: of its files with the dot; "" where ``images.format`` decides.
        encode: array as captured -> the file's bytes; the same array gives the same bytes.
        decode: path or bytes of a file -> array.
        nuscenes: modality of its channel in the table ``sensor``.
        carla: how CARLA gives it, None where it cannot.
        airsim: how AirSim gives it, None where it cannot.
        unknown: (width_px, height_px) -> the array that stands for a scene's first, where each array tells of a change since
            the sensor's measurement before: what it measured before the scene was another one. None: each stands alone.
        remembers: an array depends on more than the measurement before, so the sensor is spawned anew for each scene; it
            sends nothing for its first image.
    """

    name: str
    kind: Literal["image", "events", "points"]
    folder: str
    suffix: str
    encode: Callable[[Any, ImageFormat], bytes]
    decode: Callable[[ImageSource], Any]
    nuscenes: Literal["camera", "lidar"] = "camera"
    carla: CarlaSensor | None = None
    airsim: AirSimImage | AirSimLidar | None = None
    unknown: Callable[[int, int], AnyArray] | None = None
    remembers: bool = False

    def given_by(self, server: Literal["carla", "airsim"]) -> bool:
        """Tell whether a set-up that measures with this server can deliver it."""
        return (self.carla if server == "carla" else self.airsim) is not None

    def file_suffix(self, images: ImageFormat) -> str:
        """Return the suffix of its files, with the dot."""
        return self.suffix or (".jpg" if images.kind == "jpeg" else ".png")


# ---------------------------------------------------------------------- reading what simulators deliver
def carla_bgra(image: Any) -> AnyArray:
    """Return the (H, W, 4) bytes of a CARLA image, not copied."""
    return np.frombuffer(image.raw_data, dtype=np.uint8).reshape(image.height, image.width, 4)


def _carla_depth_m(image: Any) -> AnyArray:
    bgra = carla_bgra(image)
    code = bgra[..., 2].astype(np.float32) + bgra[..., 1] * np.float32(256) + bgra[..., 0] * np.float32(65536)
    return code * np.float32(_CARLA_DEPTH_RANGE_M / (2**24 - 1))


def _carla_flow_px(image: Any) -> AnyArray:
    """CARLA sends Unreal's velocity buffer: clip space (-1 to 1), right and up, now less then, cut off at -2 and 2."""
    clip = np.frombuffer(image.raw_data, dtype=np.float32).reshape(image.height, image.width, 2)
    return clip * np.array([image.width / 2, -image.height / 2], dtype=np.float32)


_CARLA_EVENT: Final = np.dtype([("x", "<u2"), ("y", "<u2"), ("elapsed_ns", "<i8"), ("brighter", "?")])


def _carla_events(measurement: Any) -> AnyArray:
    """CARLA stamps events with the time since the server's start; here it is the time from the image's own stamp."""
    raw = np.frombuffer(measurement.raw_data, dtype=_CARLA_EVENT)
    changes = np.empty(len(raw), dtype=events.EVENT)
    changes["x"], changes["y"], changes["p"] = raw["x"], raw["y"], raw["brighter"]
    changes["t_ns"] = raw["elapsed_ns"] - round(measurement.timestamp * 1e9)
    return changes


_CARLA_SEMANTIC_POINT: Final = np.dtype([("ue_m", "<f4", 3), ("cosine", "<f4"), ("actor", "<u4"), ("tag", "<u4")])
_FLU_FROM_UE: Final = np.array([1, -1, 1], dtype=np.float32)  # the sensor's own frame is left-handed too
_FLU_FROM_FRD: Final = np.array([1, -1, -1], dtype=np.float32)


def _carla_returns(measurement: Any) -> Returns:
    """Read a ``SemanticLidarMeasurement``: points come beam by beam, the highest first.

    A semantic lidar measures no intensity; the cosine of the angle at which the ray meets the surface takes its place.
    """
    raw = np.frombuffer(measurement.raw_data, dtype=_CARLA_SEMANTIC_POINT)
    channels = int(measurement.channels)
    counts = [int(measurement.get_point_count(channel)) for channel in range(channels)]
    if sum(counts) != len(raw):
        raise MissedTick(f"a lidar's beams have {sum(counts)} points, the measurement {len(raw)}")
    returns = np.zeros(len(raw), dtype=points.RETURN)
    returns["flu_m"] = raw["ue_m"] * _FLU_FROM_UE
    returns["intensity"] = 255 * np.abs(raw["cosine"])
    returns["ring"] = np.repeat(np.arange(channels)[::-1], counts)
    returns["actor"], returns["tag"] = raw["actor"], raw["tag"]
    return returns


def _airsim_returns(frd_m: AnyArray, spec: LidarSpec) -> Returns:
    """AirSim measures no intensity, and its points do not say of which beam they are: their elevation does."""
    returns = np.zeros(len(frd_m), dtype=points.RETURN)
    returns["flu_m"] = frd_m * _FLU_FROM_FRD
    returns["ring"] = points.rings(
        returns["flu_m"], lower_deg=spec.lower_fov_deg, upper_deg=spec.upper_fov_deg, channels=spec.channels
    )
    return returns


def _as_it_is(pixels: AnyArray) -> AnyArray:
    return pixels


# ---------------------------------------------------------------------- the modalities
_AIRSIM_SCENE, _AIRSIM_DEPTH_PLANAR, _AIRSIM_SEGMENTATION = 0, 1, 5  # airsim.ImageType


def _encode_rgb(bgr: AnyArray, images: ImageFormat) -> bytes:
    if images.kind == "jpeg":
        return codec.encode_jpeg(bgr, quality=images.jpeg_quality, order="bgr")
    return codec.encode_png(bgr, level=images.png_level, order="bgr")


def _encode_mask(ids_and_tags: tuple[UInt16Array, UInt8Array], _: ImageFormat) -> bytes:
    from uavsim.images import mask_pixels  # compiled code, which only those need who write masks

    return mask_pixels.encode(*ids_and_tags)


_BUILT_IN: Final = (
    Modality(
        RGB,
        "image",
        folder="",
        suffix="",
        encode=_encode_rgb,
        decode=codec.decode_rgb,
        carla=CarlaSensor("sensor.camera.rgb", carla_bgra, {"motion_blur_intensity": "0.0"}),  # cameras jump
        airsim=AirSimImage(_AIRSIM_SCENE, _as_it_is),
    ),
    Modality(
        INSTANCE,
        "image",
        folder="masks",
        suffix=".png",
        encode=_encode_mask,
        decode=codec.mask_ids_and_tags,
        carla=CarlaSensor("sensor.camera.instance_segmentation", carla_bgra),
        airsim=AirSimImage(_AIRSIM_SEGMENTATION, _as_it_is),
    ),
    Modality(
        DEPTH,
        "image",
        folder="depth",
        suffix=".png",
        encode=lambda depth_m, _: codec.encode_depth(depth_m),
        decode=codec.decode_depth,
        carla=CarlaSensor("sensor.camera.depth", _carla_depth_m),
        airsim=AirSimImage(_AIRSIM_DEPTH_PLANAR, _as_it_is, as_float=True),
    ),
    Modality(
        "semantic",
        "image",
        folder="semantic",
        suffix=".png",
        encode=lambda tags, _: codec.encode_tags(tags),
        decode=codec.decode_tags,
        carla=CarlaSensor("sensor.camera.semantic_segmentation", lambda image: carla_bgra(image)[..., 2]),
        airsim=AirSimImage(_AIRSIM_SEGMENTATION, lambda bgr: bgr[..., 2]),
    ),
    Modality(
        "optical_flow",
        "image",
        folder="optical_flow",
        suffix=".flo",
        encode=lambda flow_px, _: flow.encode_flow(flow_px),
        decode=flow.decode_flow,
        carla=CarlaSensor("sensor.camera.optical_flow", _carla_flow_px),
        unknown=lambda width_px, height_px: np.full((height_px, width_px, 2), np.nan, np.float32),
    ),
    Modality(
        "events",
        "events",
        folder="events",
        suffix=".npy",
        encode=lambda changes, _: events.encode_events(changes),
        decode=events.decode_events,
        carla=CarlaSensor("sensor.camera.dvs", _carla_events),
        unknown=lambda _width_px, _height_px: np.zeros(0, events.EVENT),
        remembers=True,
    ),
    Modality(
        LIDAR,
        "points",
        folder="",
        suffix=".pcd.bin",
        encode=lambda cloud, _: points.encode_points(cloud),
        decode=points.decode_points,
        nuscenes="lidar",
        carla=CarlaSensor("sensor.lidar.ray_cast_semantic", _carla_returns),
        airsim=AirSimLidar(_airsim_returns),
    ),
    Modality(
        LIDAR_INSTANCE,
        "points",
        folder="lidar_instance",
        suffix=".bin",
        encode=lambda owners, _: points.encode_owners(owners),
        decode=points.decode_owners,
        nuscenes="lidar",
    ),
)

CAMERA_SENSORS: Final = tuple(m.name for m in _BUILT_IN if m.kind != "points")
"""Ours that a rig's ``sensors`` may name."""


MODALITIES: Final = Registry("modalities", {m.name: m for m in _BUILT_IN}, what="sensor", expects=Modality)


def modalities() -> dict[str, Modality]:
    """Return every modality by name, our own first, in the order in which sensors are spawned and files are listed.

    Raises:
        InputError: another package's entry point is no modality, or takes a name that is taken.
    """
    return {name: modality(name) for name in MODALITIES.names()}


def modality(name: str) -> Modality:
    """Return one modality.

    Raises:
        UnknownNameError: there is none of that name.
        InputError: the package that offers it does not load, or calls it by two names.
    """
    found = MODALITIES.pick(name)
    if found.name != name:
        raise InputError(f"sensor {name!r} of an entry point calls itself {found.name!r}: they must be the same")
    return found


def camera_sensors() -> dict[str, Modality]:
    """Return the modalities that a rig's ``sensors`` may name."""
    return {name: m for name, m in modalities().items() if m.kind != "points"}


def camera_modalities(names: Iterable[str]) -> list[Modality]:
    """Return the named modalities in the registry's order.

    Raises:
        UnknownNameError: a name that is none.
    """
    wanted = {modality(name).name for name in names}
    return [m for m in modalities().values() if m.name in wanted]


def layer_folders() -> tuple[str, ...]:
    """Return the data set's folders of everything that lies beside the channels' own files."""
    return tuple(dict.fromkeys(m.folder for m in modalities().values() if m.folder))
