"""Modalities, each said once: how it is asked for, read from each simulator, stored, and called in the tables.

Spawning, capture, recording, layout, tables, labels and exports take everything that is particular to one sensor from its
``Modality``. Another package adds sensors with the entry point group ``uavsim.modalities`` (docs/how-to-add-a-sensor.md).

Arrays as captured, by modality:

| name | array |
|---|---|
| ``rgb`` | (H, W, 3 or 4) uint8, blue first |
| ``instance`` | as read, CARLA's encoding in (H, W, 3 or 4) uint8; as stored, a ``Mask`` |
| ``depth`` | (H, W) float32 metres along the optical axis |
| ``optical_flow`` | (H, W, 2) float32 pixels, right and down, that what is shown has moved since the camera's image before |
| ``lidar`` | as read, (N,) of ``images.points.RETURN``; as stored, (N, 5) float32 x, y, z, intensity, ring |
| ``lidar_instance`` | (N, 2) instance id and tag of the points of ``lidar``, which it is made with |
| ``radar`` | as read, places alone in (N,) of ``images.points.RETURN``; as stored, (N,) of ``images.radar.DETECTION`` |
| ``radar_instance`` | (N, 2) instance id and tag of what the detections of ``radar`` are on |
| ``events`` | (N,) of ``images.events.EVENT``: changes of brightness since the camera's image before, in the order of time |
| ``shutter`` | as ``rgb``, rows of their own ticks (``geometry.shutter``); ``shutter_instance``, ``shutter_depth`` likewise |
| ``semantic`` | (H, W) uint8 tags of CARLA's palette (table ``semantic_tag``) |
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from uavsim.errors import InputError
from uavsim.geometry.lens import Lens
from uavsim.images import codec, events, flow, points, radar
from uavsim.images.codec import ImageSource
from uavsim.records import through_lens
from uavsim.records.plan import ImageFormat
from uavsim.records.radar import RadarParams
from uavsim.records.sensors import CameraParams, LidarParams
from uavsim.registry import Registry
from uavsim.typing import AnyArray, IntArray, UInt8Array, UInt16Array

RGB: Final = "rgb"
INSTANCE: Final = "instance"
DEPTH: Final = "depth"
LIDAR: Final = "lidar"
LIDAR_INSTANCE: Final = "lidar_instance"
RADAR: Final = "radar"
RADAR_INSTANCE: Final = "radar_instance"
UNCHECKED_MASKS: Final = (
    "without depth it was not checked whether masks show what a mesh without a tag hides in the images (docs/limits.md)"
)
"""Said of cameras that take masks and no depth."""
SHUTTER: Final = "shutter"
SHUTTER_INSTANCE: Final = "shutter_instance"
SHUTTER_DEPTH: Final = "shutter_depth"


@dataclass(frozen=True, slots=True)
class Modality:
    """One kind of measurement.

    Attributes:
        name: as in a rig's ``sensors`` and in the column ``kind`` of the table ``layer``.
        params: class of the parameters (``records/sensors.py``) of the sensors that give it.
        folder: where its files lie in the dataset, below it ``<CHANNEL>/``; "" puts them into ``samples/`` and
            ``sweeps/`` as the channel's own ``sample_data``.
        suffix: of its files with the dot; "" where ``images.format`` decides.
        encode: array as captured -> the file's bytes; the same array gives the same bytes.
        decode: path or bytes of a file -> array.
        nuscenes: modality of its channel in the table ``sensor``.
        carla: where CARLA's reader of it is, ``module:name`` of a ``CarlaReader`` (``simulate/carla/readers.py``), which the
            client's process alone imports; "" where CARLA cannot give it.
        airsim: likewise of an ``AirSimReader`` (``simulate/airsim/readers.py``).
        block: likewise of the rig's block of a sensor that is no camera, a ``config.rig.Block``.
        proof: where what proves it is, ``module:name`` (``capture/proofs.py``): how a reading is shown to be of the tick
            and pose asked for beyond its stamp, and made into what is stored; "" where its stamp, pose and size say all.
        derived_from: the modality whose proof makes it; no simulator gives it.
        first_frame_placeholder: parameters -> the array that stands for a scene's first, where each array reports a change
            since the sensor's measurement before: what it measured before the scene was another one. None: each stands alone.
        through_lens: what is stored of a lens's wide pinhole image -> of the lens's own; None where no camera with a lens
            can have it.
        is_stateful: an array depends on more than the measurement before, so the sensor is respawned for each scene; one
            with ``first_frame_placeholder`` sends nothing for its first image.
        settles: its camera draws in some ticks before each image that is kept (``records.plan.Settle``).
    """

    name: str
    params: type
    folder: str
    suffix: str
    encode: Callable[[Any, ImageFormat], bytes]
    decode: Callable[[ImageSource], Any]
    nuscenes: Literal["camera", "lidar", "radar"] = "camera"
    carla: str = ""
    airsim: str = ""
    block: str = ""
    proof: str = ""
    derived_from: str = ""
    first_frame_placeholder: Callable[[Any], AnyArray] | None = None
    through_lens: Callable[[Any, Lens], Any] | None = None
    is_stateful: bool = False
    settles: bool = False

    def given_by(self, server: Literal["carla", "airsim"]) -> bool:
        """Return whether a backend that measures with this server can deliver it."""
        return bool(self.carla if server == "carla" else self.airsim)

    def file_suffix(self, images: ImageFormat) -> str:
        """Return the suffix of its files, with the dot."""
        return self.suffix or (".jpg" if images.kind == "jpeg" else ".png")


def _encode_rgb(bgr: AnyArray, images: ImageFormat) -> bytes:
    if images.kind == "jpeg":
        return codec.encode_jpeg(bgr, quality=images.jpeg_quality, order="bgr")
    return codec.encode_png(bgr, level=images.png_level, order="bgr")


class Mask:
    """One instance mask; ids that are known by their runs are written out when somebody asks for them, and not before.

    Attributes:
        tags: (H, W) semantic tags.
        runs: of what may be labelled (``images.mask_pixels``); None where nobody has found them.
    """

    def __init__(self, ids: UInt16Array | None, tags: UInt8Array, runs: IntArray | None = None) -> None:
        """Make it of (H, W) ids, of runs, or of both."""
        assert ids is not None or runs is not None
        self._ids, self.tags, self.runs = ids, tags, runs

    @property
    def ids(self) -> UInt16Array:
        """(H, W) instance ids, 0 where no labelled actor is."""
        if self._ids is None:
            from uavsim.images import mask_pixels  # compiled code, which only those need who take masks

            assert self.runs is not None
            self._ids = mask_pixels.filled(self.runs, self.tags.shape)
        return self._ids


def _encode_mask(mask: Mask, _: ImageFormat) -> bytes:
    from uavsim.images import mask_pixels  # compiled code, which only those need who write masks

    return mask_pixels.encode(mask.ids, mask.tags)


_CARLA: Final = "uavsim.simulate.carla.readers"
_AIRSIM: Final = "uavsim.simulate.airsim.readers"
_PROOFS: Final = "uavsim.capture.proofs"
_RGB: Final = Modality(
    RGB,
    CameraParams,
    folder="",
    suffix="",
    encode=_encode_rgb,
    decode=codec.decode_rgb,
    carla=f"{_CARLA}:RGB",
    airsim=f"{_AIRSIM}:RGB",
    proof=f"{_PROOFS}:DifferentImages",
    through_lens=through_lens.colours,
    settles=True,
)
_INSTANCE: Final = Modality(
    INSTANCE,
    CameraParams,
    folder="masks",
    suffix=".png",
    encode=_encode_mask,
    decode=codec.mask_ids_and_tags,
    carla=f"{_CARLA}:INSTANCE",
    airsim=f"{_AIRSIM}:INSTANCE",
    proof=f"{_PROOFS}:BoundMasks",
    through_lens=lambda mask, lens: Mask(through_lens.values(mask.ids, lens), through_lens.values(mask.tags, lens)),
)
_DEPTH: Final = Modality(
    DEPTH,
    CameraParams,
    folder="depth",
    suffix=".png",
    encode=lambda depth_m, _: codec.encode_depth(depth_m),
    decode=codec.decode_depth,
    carla=f"{_CARLA}:DEPTH",
    airsim=f"{_AIRSIM}:DEPTH",
    through_lens=through_lens.values,
)


def _owners_of(of: Literal["lidar", "radar"], params: type) -> Modality:
    """Return instance ids and tags of what the points of a sensor are on."""
    return Modality(
        f"{of}_instance",
        params,
        folder=f"{of}_instance",
        suffix=".bin",
        encode=lambda owners, _: points.encode_owners(owners),
        decode=points.decode_owners,
        nuscenes=of,
        derived_from=of,
    )


def _through_shutter(name: str, taken: Modality, *, folder: str) -> Modality:
    """Return what is made of several ticks' measurements of a modality, and stored as one of them."""
    return Modality(name, taken.params, folder, taken.suffix, taken.encode, taken.decode, derived_from=taken.name)


_BUILT_IN: Final = (
    _RGB,
    _INSTANCE,
    _DEPTH,
    Modality(
        "semantic",
        CameraParams,
        folder="semantic",
        suffix=".png",
        encode=lambda tags, _: codec.encode_tags(tags),
        decode=codec.decode_tags,
        carla=f"{_CARLA}:SEMANTIC",
        airsim=f"{_AIRSIM}:SEMANTIC",
        through_lens=through_lens.values,
    ),
    Modality(
        "optical_flow",
        CameraParams,
        folder="optical_flow",
        suffix=".flo",
        encode=lambda flow_px, _: flow.encode_flow(flow_px),
        decode=flow.decode_flow,
        carla=f"{_CARLA}:OPTICAL_FLOW",
        first_frame_placeholder=lambda camera: np.full((camera.height_px, camera.width_px, 2), np.nan, np.float32),
    ),
    Modality(
        "events",
        CameraParams,
        folder="events",
        suffix=".npy",
        encode=lambda changes, _: events.encode_events(changes),
        decode=events.decode_events,
        carla=f"{_CARLA}:EVENTS",
        first_frame_placeholder=lambda _: np.zeros(0, events.EVENT),
        is_stateful=True,
    ),
    Modality(
        LIDAR,
        LidarParams,
        folder="",
        suffix=".pcd.bin",
        encode=lambda cloud, _: points.encode_points(cloud),
        decode=points.decode_points,
        nuscenes="lidar",
        carla=f"{_CARLA}:LIDAR",
        airsim=f"{_AIRSIM}:LIDAR",
        block="uavsim.config.rig:Lidar",
        proof=f"{_PROOFS}:OwnedPoints",
    ),
    _owners_of("lidar", LidarParams),
    Modality(
        RADAR,
        RadarParams,
        folder="",
        suffix=".pcd",
        encode=lambda found, _: radar.encode_radar(found),
        decode=radar.decode_radar,
        nuscenes="radar",
        carla="uavsim.simulate.carla.radar:RADAR",
        block="uavsim.config.rig:Radar",
        proof="uavsim.capture.radar:OwnedDetections",
        is_stateful=True,
    ),
    _owners_of("radar", RadarParams),
    _through_shutter(SHUTTER, _RGB, folder="shutter"),
    _through_shutter(SHUTTER_INSTANCE, _INSTANCE, folder="shutter_masks"),
    _through_shutter(SHUTTER_DEPTH, _DEPTH, folder="shutter_depth"),
)

CAMERA_SENSORS: Final = tuple(m.name for m in _BUILT_IN if m.params is CameraParams and not m.derived_from)
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
    return {name: m for name, m in modalities().items() if m.params is CameraParams and not m.derived_from}


def ordered(names: Iterable[str]) -> list[Modality]:
    """Return the named modalities in the registry's order, in which sensors are spawned.

    Raises:
        UnknownNameError: a name that is none.
    """
    wanted = {modality(name).name for name in names}
    return [m for m in modalities().values() if m.name in wanted]


def layer_folders() -> tuple[str, ...]:
    """Return the dataset's folders of everything that lies beside the channels' own files."""
    return tuple(dict.fromkeys(m.folder for m in modalities().values() if m.folder))
