"""Modalities: the configuration name, simulator readers, file format and table names of each kind of measurement.

Spawning, capture, recording, layout, tables, labels and exports take all properties of a sensor from its ``Modality``.
Packages add sensors by entry points of the group ``uavsim.modalities`` (docs/how-to-add-a-sensor.md).

Captured arrays by modality:

| name | array |
|---|---|
| ``rgb`` | (H, W, 3 or 4) uint8, blue first |
| ``instance`` | as read, CARLA's encoding in (H, W, 3 or 4) uint8; as stored, a ``Mask`` |
| ``depth`` | (H, W) float32 metres along the optical axis |
| ``optical_flow`` | (H, W, 2) float32 pixels, right and down: motion since the camera's previous image |
| ``lidar`` | as read, (N,) of ``images.points.RETURN``; as stored, (N, 5) float32 x, y, z, intensity, ring |
| ``lidar_instance`` | (N, 2) instance id and tag of the points of ``lidar`` |
| ``radar`` | as read, (N,) of ``images.points.RETURN`` with places only; as stored, (N,) of ``images.radar.DETECTION`` |
| ``radar_instance`` | (N, 2) instance id and tag of the detections of ``radar`` |
| ``events`` | (N,) of ``images.events.EVENT``: changes of brightness since the camera's previous image, in order of time |
| ``shutter`` | as ``rgb``, with a tick per row (``geometry.shutter``); ``shutter_instance``, ``shutter_depth`` likewise |
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
    "without depth, masks were not checked for objects that a mesh without a tag hides in the images (docs/limits.md)"
)
"""Note on cameras with masks and without depth."""
SHUTTER: Final = "shutter"
SHUTTER_INSTANCE: Final = "shutter_instance"
SHUTTER_DEPTH: Final = "shutter_depth"


@dataclass(frozen=True, slots=True)
class Modality:
    """One kind of measurement.

    Attributes:
        name: as in a rig's ``sensors`` and in the column ``kind`` of the table ``layer``.
        params: class of the sensor's parameters (``records/sensors.py``).
        folder: folder of the files in the dataset, with subfolders ``<CHANNEL>/``; "" for the channel's own ``sample_data`` in
            ``samples/`` and ``sweeps/``.
        suffix: suffix of the files, with the dot; "" if it depends on ``images.format``.
        encode: captured array -> bytes of the file; equal arrays give equal bytes.
        decode: path or bytes of a file -> array.
        nuscenes: modality of the channel in the table ``sensor``.
        carla: ``module:name`` of a ``CarlaReader`` (``simulate/carla/readers.py``), which only the client process imports; ""
            if CARLA does not have the modality.
        airsim: ``module:name`` of an ``AirSimReader`` (``simulate/airsim/readers.py``), or "".
        block: ``module:name`` of the ``config.rig.Block`` of a sensor that is no camera, or "".
        proof: ``module:name`` in ``capture/proofs.py`` of the proof that a reading has the requested tick and pose, which also
            makes the stored array; "" if stamp, pose and size of the reading suffice.
        derived_from: modality with the proof that computes this one; no simulator measures it.
        first_frame_placeholder: parameters -> first array of a scene, for measurements relative to the previous one, which
            belongs to another scene. None for independent measurements.
        through_lens: stored array of the wide pinhole image -> array of the lens's image; None if cameras with lenses cannot
            have the modality.
        is_stateful: an array depends on more than the previous measurement; the sensor is respawned for each scene. With
            ``first_frame_placeholder``, it sends nothing for its first image.
        settles: the camera draws some ticks before each stored image (``records.plan.Settle``).
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
        """Return whether this server measures the modality."""
        return bool(self.carla if server == "carla" else self.airsim)

    def file_suffix(self, images: ImageFormat) -> str:
        """Return the suffix of the files, with the dot."""
        return self.suffix or (".jpg" if images.kind == "jpeg" else ".png")


def _encode_rgb(bgr: AnyArray, images: ImageFormat) -> bytes:
    if images.kind == "jpeg":
        return codec.encode_jpeg(bgr, quality=images.jpeg_quality, order="bgr")
    return codec.encode_png(bgr, level=images.png_level, order="bgr")


class Mask:
    """One instance mask; ids that are given as runs are expanded on first access.

    Attributes:
        tags: (H, W) uint8 semantic tags.
        runs: runs of pixels with possible labels (``images.mask_pixels``); None if unknown.
    """

    def __init__(self, ids: UInt16Array | None, tags: UInt8Array, runs: IntArray | None = None) -> None:
        """Make a mask from (H, W) uint16 ids, runs, or both."""
        assert ids is not None or runs is not None
        self._ids, self.tags, self.runs = ids, tags, runs

    @property
    def ids(self) -> UInt16Array:
        """(H, W) uint16 instance ids, 0 for pixels without a labelled actor."""
        if self._ids is None:
            from uavsim.images import mask_pixels  # compiled code

            assert self.runs is not None
            self._ids = mask_pixels.filled(self.runs, self.tags.shape)
        return self._ids


def _encode_mask(mask: Mask, _: ImageFormat) -> bytes:
    from uavsim.images import mask_pixels  # compiled code

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


def _owners_of(sensor: Literal["lidar", "radar"], params: type) -> Modality:
    """Return the modality of instance ids and tags for the points of a sensor."""
    return Modality(
        f"{sensor}_instance",
        params,
        folder=f"{sensor}_instance",
        suffix=".bin",
        encode=lambda owners, _: points.encode_owners(owners),
        decode=points.decode_owners,
        nuscenes=sensor,
        derived_from=sensor,
    )


def _through_shutter(name: str, taken: Modality, *, folder: str) -> Modality:
    """Return the modality of an image from several ticks, which is stored like one of them."""
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
"""Built-in names for a rig's ``sensors``."""


MODALITIES: Final = Registry("modalities", {m.name: m for m in _BUILT_IN}, what="sensor", expects=Modality)


def modalities() -> dict[str, Modality]:
    """Return every modality by name, the built-in ones first, in the order of spawning and of file lists.

    Raises:
        InputError: an entry point is no modality, or its name is taken.
    """
    return {name: modality(name) for name in MODALITIES.names()}


def modality(name: str) -> Modality:
    """Return one modality.

    Raises:
        UnknownNameError: no modality has this name.
        InputError: its package does not load, or its name differs from that of the entry point.
    """
    found = MODALITIES.pick(name)
    if found.name != name:
        raise InputError(f"the entry point of sensor {name!r} has the name {found.name!r}; use one name")
    return found


def camera_sensors() -> dict[str, Modality]:
    """Return the modalities that a rig's ``sensors`` may name."""
    return {name: m for name, m in modalities().items() if m.params is CameraParams and not m.derived_from}


def ordered(names: Iterable[str]) -> list[Modality]:
    """Return the named modalities in the registry's order, the order of spawning.

    Raises:
        UnknownNameError: a name is unknown.
    """
    requested = {modality(name).name for name in names}
    return [m for m in modalities().values() if m.name in requested]


def layer_folders() -> tuple[str, ...]:
    """Return the folders of layers in a dataset."""
    return tuple(dict.fromkeys(m.folder for m in modalities().values() if m.folder))
