"""Compare a headless dataset's occlusion with renderings of each object alone.

    scripts/trial occlusion DATASET [--scenes 5] [--every 4]

For evenly chosen scenes and every ``--every``-th keyframe, the headless renderer draws each visible object alone at the
pose of the camera; the true occlusion is 1 - visible / alone. Views with more than 100 pixels alone count. Visible
pixels must equal those of the mask. Prints one JSON line; ends with 4 unless 95 % of the views are within 0.05.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np
from headless_simulator.models import ModelLibrary
from headless_simulator.render import Renderer
from headless_simulator.scene import TAG, Mesh, Movers, View, Weather

from uavsim.annotate import annotate
from uavsim.annotate.relocate import in_dataset
from uavsim.capture.recording_reader import read_recording
from uavsim.images import codec
from uavsim.records.recording import ActorStates, RecordedFrame, Recording, SensorReading

MIN_PX, WITHIN = 100, 0.05
MODELS = ModelLibrary()


def empty_world() -> Renderer:
    """Return a renderer of a world with one triangle far below."""
    return Renderer(
        Mesh(
            vertices_m=np.array([[0, 0, -5000], [1, 0, -5000], [0, 1, -5000]], np.float32),
            triangles=np.array([[0, 1, 2]], np.int32),
            colour_rgb=np.zeros((1, 3), np.uint8),
            tag=np.array([TAG["ground"]], np.uint8),
            material=np.zeros(1, np.uint8),
            object_id=np.zeros(1, np.uint32),
        ),
        MODELS,
    )


def view_of(shot: SensorReading) -> View:
    """Return the headless renderer's view of a recorded camera: CARLA's frame, degrees."""
    x, y, z = shot.map_SE3_sensor.translation_m.tolist()
    roll, pitch, yaw = shot.ue_euler_deg
    camera = shot.camera
    return View((x, -y, z, pitch, yaw, roll), camera.width_px, camera.height_px, camera.fov_deg)


def alone_px(renderer: Renderer, view: View, states: ActorStates, row: int, blueprint: str) -> int:
    """Draw one actor alone and count its pixels."""
    x, y, z = states.map_SE3_actor[row].translation_m
    roll, pitch, yaw = states.ue_euler_deg[row]
    mover = Movers(
        np.array([MODELS.number(blueprint)], np.int32),
        np.array([[x, -y, z, pitch, yaw, roll]]),
        np.array([1], np.uint32),
        np.full((1, 3), 200, np.uint8),
        np.zeros(1, np.uint32),
    )
    weather, signals = Weather(), np.zeros(0, np.uint8)
    return int(
        (renderer.render(view, mover, weather=weather, signals=signals, time_s=0.0, want_bgra=False).ids == 1).sum()
    )


def compare_scene(recording: Recording, renderer: Renderer, every: int) -> np.ndarray:
    """Return (N, 5): sample, pixels alone, pixels visible, occlusion as labelled, 1 if the mask has those pixels."""
    labels = annotate(recording)
    boxes, views, channels = labels.boxes, labels.views, recording.plan.channels
    blueprint = {actor.instance_id: actor.blueprint for actor in recording.actors}
    found = []
    for frame in recording.frames:
        if frame.sample_index is None or frame.sample_index % every:
            continue
        shots: dict[str, SensorReading] = {shot.channel: shot for shot in frame.cameras}
        sample = boxes.sample_index[views.box_row] == frame.sample_index
        for number, channel in enumerate(channels):
            ids, _ = codec.mask_ids_and_tags(recording.folder / shots[channel].files["instance"])
            counted = np.bincount(ids.ravel(), minlength=65536)
            for row in np.flatnonzero(sample & (views.channel_index == number) & (views.visible_px > 0)):
                instance = int(boxes.instance_id[views.box_row[row]])
                if blueprint[instance].startswith("environment."):
                    continue  # part of the town mesh
                alone = alone_px(renderer, view_of(shots[channel]), *state_of(frame, instance), blueprint[instance])
                visible = int(views.visible_px[row])
                found.append((frame.sample_index, alone, visible, views.occlusion[row], counted[instance] == visible))
    return np.array(found, dtype=np.float64).reshape(-1, 5)


def state_of(frame: RecordedFrame, instance: int) -> tuple[ActorStates, int]:
    """Return a frame's states and an instance's row in them."""
    return frame.actors, int(np.searchsorted(frame.actors.instance_id, instance))


def main() -> int:
    """Compare every chosen view and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--scenes", type=int, default=5)
    parser.add_argument("--every", type=int, default=4)
    options = parser.parse_args()
    folders = sorted(p.parent for p in (options.dataset / ".uavsim" / "recordings").glob("*/log.msgpack"))
    chosen = [folders[k] for k in np.unique(np.linspace(0, len(folders) - 1, options.scenes).astype(int))]
    renderer, parts = empty_world(), []
    for folder in chosen:
        part = compare_scene(in_dataset(read_recording(folder), options.dataset), renderer, options.every)
        print(f"{folder.name}: {len(part)} views", file=sys.stderr, flush=True)
        parts.append(part)
    table = np.concatenate(parts)
    large = table[table[:, 1] > MIN_PX]
    truth = 1 - large[:, 2] / large[:, 1]
    right = np.abs(large[:, 3] - truth) <= WITHIN
    hidden = truth > WITHIN
    report = {
        "scenes": len(chosen),
        "views": len(table),
        "visible_px_differ_from_mask": int((table[:, 4] == 0).sum()),
        "more_visible_than_alone": int((table[:, 2] > table[:, 1]).sum()),
        "views_over_100_px": len(large),
        "within_0.05": round(float(right.mean()), 4),
        "of_them_hidden": int(hidden.sum()),
        "hidden_within_0.05": round(float(right[hidden].mean()), 4) if hidden.any() else None,
        "worst": round(float(np.abs(large[:, 3] - truth).max()), 3),
    }
    print(json.dumps(report))
    return 0 if right.mean() >= 0.95 and not report["visible_px_differ_from_mask"] else 4
