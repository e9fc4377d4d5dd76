"""Fly one scene and leave a recording: plan in, folder out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from uavsim.capture.camera_capture import assemble_capture
from uavsim.capture.lidar_capture import PointOwners, assemble_lidars
from uavsim.capture.masks import MaskBinder
from uavsim.capture.recording_writer import RecordingWriter
from uavsim.capture.rig import sensor_poses
from uavsim.records.modalities import LIDAR
from uavsim.records.plan import ScenePlan
from uavsim.records.recording import RecordedFrame, SessionFacts
from uavsim.simulate.ports import Heartbeat, SceneTraffic
from uavsim.simulate.session import Session

__all__ = ["SampleTaken", "record_scene"]

SampleTaken = Callable[[int, int], None]
"""Called with (samples taken, images taken) after every capture."""


def record_scene(
    session: Session, plan: ScenePlan, folder: Path, *, heartbeat: Heartbeat, sample_taken: SampleTaken
) -> SessionFacts:
    """Fly ``plan`` and write its recording into ``folder``.

    Args:
        session: connected; any scenes may have been flown in it before.
        plan: of the scene.
        folder: empty or not there yet.
        heartbeat: told of every tick.
        sample_taken: told of every capture.

    Raises:
        MissedTick: an image or a state was not of the tick asked for; nothing of the scene is to be used.
        SceneVoid: the scene cannot be used as flown.
        StorageError: the folder cannot be written.
    """
    lockstep, traffic = session.begin_scene(plan, heartbeat=heartbeat)
    binder, owners = MaskBinder(traffic.actors), PointOwners(traffic.actors)
    samples = 0
    with RecordingWriter(folder, plan) as writer:
        for step in plan.capture_steps:
            drones, poses, state, readings = lockstep.capture(step, poses_of=lambda places: sensor_poses(plan, places))
            captures = assemble_capture(
                plan,
                poses=[pose for pose in poses if pose.camera],
                readings=[reading for reading in readings if reading.modality != LIDAR],
                states=state.actors,
                binder=binder,
                first=step == plan.capture_steps[0],
            )
            turns = assemble_lidars(plan, poses=poses, readings=readings, states=state.actors, owners=owners)
            shots, scans = writer.put(captures, turns, step=step, drones=drones)
            keyframe = step % plan.keyframe_every_steps == 0
            writer.add(
                RecordedFrame(
                    step=step,
                    timestamp_us=plan.start_timestamp_us + step * plan.step_us,
                    simulator_frame=state.frame,
                    sample_index=step // plan.keyframe_every_steps if keyframe else None,
                    drones=drones,
                    shots=shots,
                    actors=state.actors,
                    weather=lockstep.weather_now(),
                    scans=scans,
                )
            )
            samples += keyframe
            sample_taken(samples, writer.images_written)
        facts = _facts(session, traffic, binder)
        writer.finish(facts, traffic.actors, drivable_map_m=session.world.drivable())
    return facts


def _facts(session: Session, traffic: SceneTraffic, binder: MaskBinder) -> SessionFacts:
    world = session.world
    return SessionFacts(
        simulator=world.kind,
        client_version=world.client_version,
        server_version=world.server_version,
        topology=session.topology,
        vehicles_asked=traffic.vehicles_asked,
        vehicles_spawned=traffic.vehicles_spawned,
        walkers_asked=traffic.walkers_asked,
        walkers_spawned=traffic.walkers_spawned,
        mask_ids=binder.mode or "none seen",
    )
