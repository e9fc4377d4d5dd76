"""Cosmos: for each scene and agent a clip of videos that world models take, RGB and what it has to keep.

``<scene>__<agent>/{rgb,depth,seg,semantic,edge,mask,hdmap_bbox}_<camera>.mp4`` and ``manifest.json``; for Transfer 2.5
settings for each camera. RGB is H.264 at crf 14, controls are lossless H.264 4:4:4. Clips are cut to what the model takes; the
last frame of those that are too short is repeated.
Source: ``carla_cosmos`` in carla-simulator/carla, branch ue58-dev; Cosmos Transfer 2.5, "Inference Guide".
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import Final

import numpy as np

from uavsim.access import Image, Scene
from uavsim.dataset.schema import SAMPLE
from uavsim.errors import DatasetError, InputError
from uavsim.exports.formats import cosmos_controls as controls
from uavsim.exports.formats.agents import folder_name
from uavsim.exports.formats.cosmos_models import chosen_model, view_name
from uavsim.exports.formats.encode_video import encode_mp4
from uavsim.exports.formats.request import ExportRequest, exporter, filmed, frame_rate
from uavsim.exports.formats.text import write_bytes, write_json, write_text
from uavsim.files.results import ResultPath
from uavsim.geometry import unreal
from uavsim.typing import JsonDict, UInt8Array

__all__ = ["clips_of", "export_cosmos"]

_RGB_CRF: Final = 14
_GUIDANCE: Final = 3
_WEIGHTS: Final = {"depth": 1.0, "seg": 0.5, "edge": 0.5}
Frames = Callable[[], Iterator[UInt8Array]]


@exporter
def export_cosmos(request: ExportRequest) -> list[Path]:
    """Write a folder for each scene and agent.

    Raises:
        DatasetError: images are missing, or not evenly apart.
        InputError: the rate is none of the model's, or PyAV is not installed.
    """
    out = ResultPath.open(request.out)
    made = [_clip(scene, *own, request.model, out) for scene in request.scenes() for own in clips_of(scene)]
    if not any(made):
        raise InputError(f"{request.root}: {request.model} takes cameras by its own names, which the rig cosmos_av has")
    return [folder.shown for folder in made if folder is not None]


def clips_of(scene: Scene) -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each agent's clip, and the channels of its cameras; of a clip of chosen cameras, those alone."""
    found: dict[str, list[str]] = {}
    for channel in filmed(scene):
        agent = channel.rpartition("_id_")[2] if "_id_" in channel else "0"
        found.setdefault(agent, []).append(channel)
    for agent, channels in found.items():
        yield f"{scene.name}__{folder_name(agent)}", channels


def _clip(scene: Scene, name: str, channels: Sequence[str], wanted: str, out: ResultPath) -> ResultPath | None:
    """Write the clip of an agent; None where it has no camera that the model takes."""
    ways = {channel: scene.images_of(channel) for channel in channels}
    recorded = len(ways[channels[0]])
    fps = round(frame_rate(scene, ways[channels[0]]))
    model = chosen_model(wanted, fps, where=name)
    count = model.frames_of(recorded)
    views = {channel: view_name(way[0].camera, channel) for channel, way in ways.items()}
    lines, folder = _map_lines(scene), out / name
    videos: dict[str, str] = {}
    cameras: list[JsonDict] = []
    for channel, view in views.items():
        if model.views and view not in model.views:
            continue
        cameras.append(_camera(ways[channel][0], view))
        for kind, frames in _frames(scene, ways[channel][:count], lines):
            file = f"{kind}_{view.replace(':', '_')}.mp4"
            shown = _even(_padded(frames(), max(count - recorded, 0)))
            write_bytes(folder / file, encode_mp4(shown, fps=fps, quality=_RGB_CRF, lossless=kind != "rgb"))
            videos[f"{kind}/{view.replace(':', '_')}"] = file
    if not cameras:
        return None
    numbers = {"fps": fps, "frames": count, "uavsim": _source(scene, recorded)}
    write_json(folder / "manifest.json", _manifest(scene, name, cameras, videos) | numbers)
    if model.name == "transfer2.5":
        _write_settings(folder, scene, [camera["name"] for camera in cameras], videos)
    return folder


def _frames(scene: Scene, images: Sequence[Image], lines: controls.MapLines | None) -> Iterator[tuple[str, Frames]]:
    """Yield each kind of video that the dataset has the layers of, and what makes its frames."""

    def each(make: Callable[[Image], UInt8Array]) -> Frames:
        return partial(map, make, images)

    def town(image: Image, lines: controls.MapLines) -> UInt8Array:
        return controls.hdmap_bbox(image, lines, scene.boxes_at(image.timestamp_us))

    yield "rgb", each(Image.pixels)
    if "depth" in images[0].layers:
        yield "depth", partial(controls.depth_frames, images)
    if "instance" in images[0].layers:
        yield "seg", each(controls.instances)
        yield "semantic", each(controls.semantics)
        yield "mask", each(controls.small_objects)
    yield "edge", each(controls.edge)
    if lines is not None:
        yield "hdmap_bbox", each(partial(town, lines=lines))


def _map_lines(scene: Scene) -> controls.MapLines | None:
    """Return the lines of the town's vector map; None where the dataset has no map, or none here reads it."""
    try:
        return controls.MapLines.of(scene.map)
    except (DatasetError, InputError):
        return None


def _padded(frames: Iterator[UInt8Array], more: int) -> Iterator[UInt8Array]:
    """Yield frames, and the last one so many times more."""
    last = None
    for last in frames:
        yield last
    if last is not None:
        yield from repeat(last, more)


def _even(frames: Iterator[UInt8Array]) -> Iterator[UInt8Array]:
    """Yield frames without an odd last line or column, which RGB's halved colours have no place for."""
    for pixels in frames:
        yield pixels[: pixels.shape[0] // 2 * 2, : pixels.shape[1] // 2 * 2]


def _camera(image: Image, view: str) -> JsonDict:
    """Return how a camera is mounted, in Cosmos' words: (roll, pitch, yaw) of flu and of Unreal's frame, degrees."""
    place = image.flu_SE3_optical.translation_m
    roll, pitch, yaw = unreal.ue_euler_from_map_q_optical(image.flu_SE3_optical.quat_wxyz).tolist()
    x, y, z = unreal.ue_vector_from_map(place).tolist()
    width, height = image.size_px
    return {
        "name": view,
        "hfov": float(np.degrees(2 * np.arctan(width / 2 / image.intrinsic[0, 0]))),
        "width": width // 2 * 2,
        "height": height // 2 * 2,
        "lens": image.lens.model if image.lens else "pinhole",
        "t_flu": place.tolist(),
        "rpy_flu": [roll, -pitch, -yaw],
        "attach_ue": {"x": x, "y": y, "z": z, "pitch": pitch, "yaw": yaw, "roll": roll},
    }


def _source(scene: Scene, recorded: int) -> JsonDict:
    """Return what the way back needs, and what the manifest has no place for."""
    return {"scene": scene.name, "recorded_frames": recorded, "weather": scene.log.get("uav_weather", "")}


def _manifest(scene: Scene, name: str, cameras: Sequence[JsonDict], videos: dict[str, str]) -> JsonDict:
    agent = name.rpartition("__")[2]
    return {
        "format_version": 1,
        "clip_id": name,
        "carla_version": scene.log.get("uav_server_version", ""),
        "map": scene.town,
        "weather": scene.rows(SAMPLE)[0].get("uav_weather", {}),
        "rig": {"name": scene.log.get("uav_rig", ""), "mount": agent, "cameras": cameras},
        "ego_id": int(agent.rpartition("_")[2]),
        "ego_type_id": agent.rpartition("_")[0],
        "rear_axle_offset_ue": [0.0, 0.0, 0.0],
        "aovs": sorted({key.partition("/")[0] for key in videos}),
        "videos": videos,
        "seed": scene.log.get("uav_seed"),
        "created": f"{scene.log.get('date_captured', '2024-01-01')}T00:00:00+00:00",
    }


def _write_settings(folder: ResultPath, scene: Scene, views: Sequence[str], videos: dict[str, str]) -> None:
    """Write for each camera what Transfer 2.5's inference takes; edges hold at small objects alone, where there are masks."""
    write_text(folder / "prompt.txt", f"{scene.description or scene.name}\n")
    for view in views:
        own = {kind: videos[f"{kind}/{view}"] for kind in ("rgb", "mask", *_WEIGHTS) if f"{kind}/{view}" in videos}
        settings: JsonDict = {
            "name": f"{folder.name}__{view}",
            "prompt_path": "prompt.txt",
            "video_path": own["rgb"],
            "guidance": _GUIDANCE,
        }
        for kind, weight in _WEIGHTS.items():
            if kind in own:
                masked = {"mask_path": own["mask"]} if kind == "edge" and "mask" in own else {}
                settings[kind] = {"control_path": own[kind], "control_weight": weight, **masked}
        write_json(folder / f"transfer2.5_{view}.json", settings)
