"""Cosmos: for each scene and agent a clip of RGB and control videos for world models.

``<scene>__<agent>/{rgb,depth,seg,semantic,edge,mask,hdmap_bbox}_<camera>.mp4`` and ``manifest.json``; settings for each camera
for Transfer 2.5. RGB is H.264 at crf 14, controls are lossless H.264 4:4:4. Clips are cut to a length of the model, or padded
with the last frame.
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
from uavsim.exports.formats.text import write_json, write_text
from uavsim.files.results import ResultPath
from uavsim.files.whole import write_whole
from uavsim.geometry import unreal
from uavsim.records.channels import agent_id
from uavsim.typing import JsonDict, UInt8Array

_RGB_CRF: Final = 14
_GUIDANCE: Final = 3
_WEIGHTS: Final = {"depth": 1.0, "seg": 0.5, "edge": 0.5}
Frames = Callable[[], Iterator[UInt8Array]]


@exporter
def export_cosmos(request: ExportRequest) -> list[Path]:
    """Write a folder for each scene and agent.

    Raises:
        DatasetError: images are missing.
        InputError: images are not evenly spaced, the model does not support their rate, or PyAV is not installed.
    """
    out = ResultPath.open(request.out)
    folders = [
        _clip(scene, name, channels, request.model, out)
        for scene in request.scenes()
        for name, channels in clips_of(scene)
    ]
    if not any(folders):
        raise InputError(f"{request.root}: {request.model} requires its own camera names; use the rig cosmos_av")
    return [folder.display_path for folder in folders if folder is not None]


def clips_of(scene: Scene) -> Iterator[tuple[str, list[str]]]:
    """Yield name and camera channels of each agent's clip; cameras with fewer images than others are left out."""
    found: dict[str, list[str]] = {}
    for channel in filmed(scene):
        found.setdefault(agent_id(channel), []).append(channel)
    for agent, channels in found.items():
        yield f"{scene.name}__{folder_name(agent)}", channels


def _clip(scene: Scene, name: str, channels: Sequence[str], model_name: str, out: ResultPath) -> ResultPath | None:
    """Write the clip of an agent; return None if the model supports none of its cameras."""
    images = {channel: scene.images_of(channel) for channel in channels}
    recorded = len(images[channels[0]])
    fps = round(frame_rate(scene, images[channels[0]]))
    model = chosen_model(model_name, fps, where=name)
    count = model.frames_of(recorded)
    views = {channel: view_name(channel_images[0].camera, channel) for channel, channel_images in images.items()}
    lines, folder = _map_lines(scene), out / name
    videos: dict[str, str] = {}
    cameras: list[JsonDict] = []
    for channel, view in views.items():
        if model.views and view not in model.views:
            continue
        cameras.append(_camera(images[channel][0], view))
        for kind, frames in _frames(scene, images[channel][:count], lines):
            file = f"{kind}_{view.replace(':', '_')}.mp4"
            padded = _even(_padded(frames(), max(count - recorded, 0)))
            write_whole(folder / file, encode_mp4(padded, fps=fps, quality=_RGB_CRF, lossless=kind != "rgb"))
            videos[f"{kind}/{view.replace(':', '_')}"] = file
    if not cameras:
        return None
    source = {"scene": scene.name, "recorded_frames": recorded, "weather": scene.log.get("uav_weather", "")}
    frame_counts = {"fps": fps, "frames": count, "uavsim": source}
    write_json(folder / "manifest.json", _manifest(scene, name, cameras, videos) | frame_counts)
    if model.name == "transfer2.5":
        _write_settings(folder, scene, [camera["name"] for camera in cameras], videos)
    return folder


def _frames(scene: Scene, images: Sequence[Image], lines: controls.MapLines | None) -> Iterator[tuple[str, Frames]]:
    """Yield (kind, frames) of each video that the dataset's layers allow."""

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
    """Return the lines of the town's vector map; None without a readable map."""
    try:
        return controls.MapLines.of(scene.map)
    except (DatasetError, InputError):
        return None


def _padded(frames: Iterator[UInt8Array], more: int) -> Iterator[UInt8Array]:
    """Yield frames, then the last frame ``more`` times."""
    last = None
    for last in frames:
        yield last
    if last is not None:
        yield from repeat(last, more)


def _even(frames: Iterator[UInt8Array]) -> Iterator[UInt8Array]:
    """Yield frames without an odd last line or column, which 4:2:0 colours cannot store."""
    for pixels in frames:
        yield pixels[: pixels.shape[0] // 2 * 2, : pixels.shape[1] // 2 * 2]


def _camera(image: Image, view: str) -> JsonDict:
    """Return a camera's entry of the manifest; angles are degrees in the flu and in Unreal's frame."""
    position_flu_m = image.flu_SE3_optical.translation_m
    roll, pitch, yaw = unreal.ue_euler_from_map_q_optical(image.flu_SE3_optical.quat_wxyz).tolist()
    x, y, z = unreal.ue_vector_from_map(position_flu_m).tolist()
    width, height = image.size_px
    return {
        "name": view,
        "hfov": float(np.degrees(2 * np.arctan(width / 2 / image.intrinsic[0, 0]))),
        "width": width // 2 * 2,
        "height": height // 2 * 2,
        "lens": image.lens.model if image.lens else "pinhole",
        "t_flu": position_flu_m.tolist(),
        "rpy_flu": [roll, -pitch, -yaw],
        "attach_ue": {"x": x, "y": y, "z": z, "pitch": pitch, "yaw": yaw, "roll": roll},
    }


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
    """Write Transfer 2.5's settings of each camera; masks restrict edges to small objects."""
    write_text(folder / "prompt.txt", f"{scene.description or scene.name}\n")
    for view in views:
        files = {kind: videos[f"{kind}/{view}"] for kind in ("rgb", "mask", *_WEIGHTS) if f"{kind}/{view}" in videos}
        settings: JsonDict = {
            "name": f"{folder.name}__{view}",
            "prompt_path": "prompt.txt",
            "video_path": files["rgb"],
            "guidance": _GUIDANCE,
        }
        for kind, weight in _WEIGHTS.items():
            if kind in files:
                masked = {"mask_path": files["mask"]} if kind == "edge" and "mask" in files else {}
                settings[kind] = {"control_path": files[kind], "control_weight": weight, **masked}
        write_json(folder / f"transfer2.5_{view}.json", settings)
