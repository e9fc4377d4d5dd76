# ruff: noqa: T201 - printing events is its job
"""A client process without a simulator: it "flies" a plan by drawing the synthetic street of ``tests/factories.py``.

``fake_client_worker.py FAULTS.json``: FAULTS maps ``scene`` to a list of faults; each attempt removes one from the file.
``look:7`` is no fault: the scene's images are 7 levels brighter.
"""

import json
import os
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tools.common.factories import make_recording
from uavsim.capture.recording_writer import RecordingWriter
from uavsim.images import codec
from uavsim.records.codec import unpack_plan

LANE_MAP_M = np.array([[[-30.0, -2.0], [30.0, -2.0], [30.0, 2.0], [-30.0, 2.0]]])


def say(**event: object) -> None:
    print(json.dumps(event), flush=True)


def next_fault(path: Path, scene: str) -> str:
    faults = json.loads(path.read_text())
    waiting = faults.get(scene, [])
    fault = waiting.pop(0) if waiting else ""
    path.write_text(json.dumps(faults))
    return fault


def repaint(recording, brighter: int) -> None:
    """Change every image, as in a repeated flight of a real simulator."""
    for frame in recording.frames:
        for shot in frame.readings:
            path = recording.folder / shot.files["rgb"]
            image = codec.decode_rgb(path)
            path.write_bytes(codec.encode_png(np.clip(image.astype(int) + brighter, 0, 255).astype(np.uint8)))


def fly(command: dict, faults: Path) -> None:
    plan = unpack_plan(Path(command["plan"]).read_bytes())
    folder = Path(command["out"])
    say(event="heartbeat", phase="load", tick=0)
    fault = next_fault(faults, plan.scene_name)
    if fault == "die":
        os._exit(139)
    if fault == "hang":
        time.sleep(3600)
    if fault in {"SceneVoid", "TrafficStalled", "MissedTick", "StorageError", "MapMissing"}:
        say(event="error", kind=fault, message="asked to", retry=True)
        sys.exit(3)
    recording = make_recording(
        folder,
        scene=plan.scene_name,
        scene_index=plan.scene_index,
        samples=plan.samples,
        sweeps=plan.sweeps_per_keyframe,
        drones=len(plan.swarm.drone_ids),
        size_px=(plan.rig[0].camera.width_px, plan.rig[0].camera.height_px),
    )
    with RecordingWriter(folder, plan) as writer:
        for frame in recording.frames:
            writer.add(frame)
        writer.finish(recording.facts, recording.actors, drivable_map_m=LANE_MAP_M)
    if fault.startswith("look:"):
        repaint(recording, int(fault.removeprefix("look:")))
    images = sum("rgb" in shot.files for frame in recording.frames for shot in frame.readings)
    say(event="sample", scene=plan.scene_name, sample=plan.samples, samples=plan.samples, images=images)
    say(event="done", scene=plan.scene_name, recording=str(folder), vehicles=11, vehicles_asked=11, images=images)


def main() -> None:
    say(event="ready", client="0.9.16", server="0.9.16", map_name="Town10HD", protocol=1)
    for line in sys.stdin:
        command = json.loads(line)
        if command["cmd"] == "probe":
            say(event="ready", client="0.9.16", server="0.9.16", map_name="Town10HD", protocol=1)
        elif command["cmd"] == "fly":
            fly(command, Path(sys.argv[1]))


main()
