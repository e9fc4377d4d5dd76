"""What ``capture`` leaves behind and ``annotate`` reads: a scene as flown, before any label.

Everything here is in the ``map`` frame (right-handed, z up, metres, radians) and integer microseconds. The simulator's own
left-handed frame was left at the simulator's door; positions and angles convert back by sign flips without loss.
On disk it is ``log.msgpack`` and one file a measurement: ``recording_writer`` and ``recording_reader`` of ``capture``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from uavsim.geometry.se3 import SE3
from uavsim.records.actors import ActorInfo, ActorStates
from uavsim.records.motion import MotionLog
from uavsim.records.plan import ScenePlan
from uavsim.typing import FloatArray, IntArray

__all__ = [
    "ActorInfo",
    "ActorStates",
    "CameraShot",
    "DroneState",
    "LidarScan",
    "MeasuredBoxes",
    "RecordedFrame",
    "Recording",
    "SessionFacts",
]


@dataclass(frozen=True, slots=True, eq=False)
class DroneState:
    """One drone at one tick; ``planned_map_SE3_flu`` is where the plan wanted it (the same in topology ``carla``)."""

    drone_id: int
    map_SE3_flu: SE3
    velocity_map_mps: FloatArray  # (3,)
    planned_map_SE3_flu: SE3


@dataclass(frozen=True, slots=True, eq=False)
class CameraShot:
    """What was taken at one camera pose at one tick.

    Attributes:
        map_SE3_optical: camera (x right, y down, z forward).
        ue_euler_deg: (roll, pitch, yaw) in the simulator's left-handed frame, as commanded.
        intrinsic: (3, 3).
        files: modality (``records/modalities.py``) -> path in the recording's folder, of what was taken.
        degradation: what was done to the degraded copy of the image, empty when nothing.
    """

    channel: str
    drone_id: int
    camera: str
    map_SE3_optical: SE3
    ue_euler_deg: tuple[float, float, float]
    intrinsic: FloatArray
    width_px: int
    height_px: int
    files: dict[str, str]
    degradation: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class LidarScan:
    """One whole turn of one drone's lidar.

    Attributes:
        map_SE3_lidar: the sensor's own flu frame, in which its points are.
        ue_euler_deg: (roll, pitch, yaw) in the simulator's left-handed frame, as commanded.
        files: modality -> path in the recording's folder.
    """

    channel: str
    drone_id: int
    map_SE3_lidar: SE3
    ue_euler_deg: tuple[float, float, float]
    files: dict[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredBoxes:
    """What a keyframe's images show of its boxes, counted while they were in memory; rows camera by camera.

    Attributes:
        of_what: hash of boxes and cameras (``annotate.measure``): counts of others say nothing about these.
        views: (cameras,) how many rows each camera has, in the order of ``RecordedFrame.shots``.
        row: (M,) box, among those that were measured.
        visible_px: (M,) its pixels in the mask.
        silhouette_px: (M,) pixels of the image whose rays meet the box.
        blockers_px: (M,) of them, those that show something nearer.
        truncation: (M,) share of the silhouette outside of the image.
        visible_box_px: (M, 4) bounds of the visible pixels.
        amodal_box_px: (M, 4) bounds of the projected box, clipped to the image.
    """

    of_what: str
    views: IntArray
    row: IntArray
    visible_px: IntArray
    silhouette_px: IntArray
    blockers_px: IntArray
    truncation: FloatArray
    visible_box_px: IntArray
    amodal_box_px: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class RecordedFrame:
    """Everything of one capture tick.

    Attributes:
        step: plan step, see ``ScenePlan``.
        timestamp_us: ``plan.start_timestamp_us + step * plan.step_us``; the simulator's elapsed time was checked against it.
        simulator_frame: the simulator's frame number in this run; differs from run to run, never reaches tables.
        sample_index: keyframe number 0.., or None for a sweep.
        measured: of a keyframe with masks; None in recordings of format 1 and 2.
    """

    step: int
    timestamp_us: int
    simulator_frame: int
    sample_index: int | None
    drones: tuple[DroneState, ...]
    shots: tuple[CameraShot, ...]
    actors: ActorStates
    weather: tuple[float, ...]
    scans: tuple[LidarScan, ...] = ()
    measured: MeasuredBoxes | None = None


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """What the run met: goes into the scene's log.

    Attributes:
        mask_ids: ``actor_id`` when the simulator's mask ids were proven to be actor ids, ``voted`` when they were
            matched to actors by where they lie in the images.
    """

    simulator: str  # "mock" or "unreal"
    client_version: str
    server_version: str
    topology: str
    vehicles_asked: int
    vehicles_spawned: int
    walkers_asked: int
    walkers_spawned: int
    mask_ids: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """One scene as flown. Frames are in time order and complete: a scene with a missing image was never recorded.

    Attributes:
        drivable_map_m: (N, 4, 2) quadrilaterals that cover the town's driving lanes, for the map mask.
        motion: what everything did, tick by tick; None in recordings of format 1 to 3.
    """

    folder: Path
    plan: ScenePlan
    facts: SessionFacts
    actors: tuple[ActorInfo, ...]  # sorted by instance id; every actor that was alive in any frame
    frames: tuple[RecordedFrame, ...]
    drivable_map_m: FloatArray | None = None
    motion: MotionLog | None = None
