"""``uavsim export``, ``video`` and ``adopt``: write other formats and clips, and import converted clips."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from uavsim.access import open_folder
from uavsim.cli.options import DatasetFolder, JsonOption, NewFolder, VersionOption, WriteNothingOption, print_intent
from uavsim.environment import replay_command
from uavsim.errors import InputError
from uavsim.exports.formats import EXPORTERS, ExportRequest
from uavsim.exports.formats.cosmos_models import MODELS
from uavsim.exports.formats.missing_content import missing_content
from uavsim.files.result_folder import check_result_beside, refuse_inside
from uavsim.terminal import Screen, line, write_out

__all__ = ["adopt", "export_format", "video"]


def export_format(
    folder: DatasetFolder,
    out: NewFolder,
    *,
    kind: Annotated[str, typer.Option("--format", help="coco, mcap, ... (uavsim list exports).")],
    version: VersionOption = None,
    split: Annotated[str | None, typer.Option(help="uav_train, uav_val, ...; default: every scene.")] = None,
    topics: Annotated[str, typer.Option(help="Names of rosbag2's topics: airsim, carla, nuscenes2mcap.")] = "airsim",
    ros: Annotated[
        str, typer.Option(help="Distribution that plays rosbag2's bags: humble, or jazzy and later.")
    ] = "jazzy",
    model: Annotated[str, typer.Option(help=f"With cosmos: {', '.join(MODELS)}; default: by the rate.")] = "",
    received: Annotated[
        bool, typer.Option("--received", help="With opv2v, griffin, v2xsim: partners' images as the ego received them.")
    ] = False,
    dry_run: WriteNothingOption = False,
) -> None:
    """Run ``uavsim export``."""
    check_result_beside(folder, out)
    exporter = EXPORTERS.pick(kind)
    if received and kind not in ("opv2v", "griffin", "v2xsim"):
        raise InputError(f"--received needs --format opv2v, griffin or v2xsim; {kind} has only synchronous keyframes")
    if dry_run:
        print_intent(open_folder(folder, version), f"written to {out} in format {kind}")
        return
    if (missing := missing_content(open_folder(folder, version), kind)) is not None:
        hint = f"; {replay_command(folder, 'lidar')} records it" if "lidar" in missing else ""
        Screen().print(line(("yellow", "note: "), missing + hint))
    for path in exporter(ExportRequest(folder, out, version, split, topics, model, received, ros)):
        Screen().print(f"wrote {path}")


def video(
    folder: DatasetFolder,
    *,
    out: Annotated[Path, typer.Option(help="The video: .mp4 or .gif.")] = Path("video.mp4"),
    version: VersionOption = None,
    scene: Annotated[str | None, typer.Option(help="Name of a scene; default: the first.")] = None,
    camera: Annotated[
        list[str] | None,
        typer.Option(
            help="Channel, such as CAMERA_FRONT_id_0; repeat for more; default: up to six, of all drones in turn."
        ),
    ] = None,
    columns: Annotated[int, typer.Option(min=0, help="Columns of the grid; 0: about the number of rows.")] = 0,
    width: Annotated[int, typer.Option(min=64, max=7680, help="Width of the whole video, pixels.")] = 1280,
    fps: Annotated[float, typer.Option(min=0, max=240, help="Frames per second; 0: the images' own rate.")] = 0.0,
    frames: Annotated[int, typer.Option(min=0, help="Number of frames from the start; 0: all.")] = 0,
    boxes: Annotated[bool, typer.Option(help="Draw the boxes visible in each image.")] = True,
) -> None:
    """Run ``uavsim video``."""
    from uavsim.exports.formats.video import VideoRequest, write_video

    refuse_inside(folder, out)

    request = VideoRequest(
        root=folder, path=out, version=version, scene=scene, cameras=tuple(camera or ()), columns=columns, width_px=width,
        fps=fps, frames=frames, boxes=boxes,
    )  # fmt: skip
    count, rate, size = write_video(request)
    Screen().print(f"wrote {out}: {count} frames at {rate:g} a second, {size / 1e6:.1f} MB")


def adopt(
    clips: Annotated[Path, typer.Argument(help="Folder of the converted videos, each beside its manifest.json.")],
    *,
    as_twin_of: Annotated[Path, typer.Option("--as-twin-of", help="The dataset that the clips were exported from.")],
    out: Annotated[Path | None, typer.Option(help="Folder of the twins; default: the dataset's plus -twins.")] = None,
    name: Annotated[str | None, typer.Option(help="Name of the twin; default: that of the videos' folder.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Run ``uavsim adopt``."""
    from uavsim.exports.adopt import adopt as take

    twins = out or as_twin_of.with_name(f"{as_twin_of.name}-twins")
    result = take(clips, as_twin_of, twins, name=name or clips.resolve().name)
    if as_json:
        write_out(json.dumps(asdict(result)))
    screen = Screen(quiet=as_json)
    screen.print(f"{result.folder}: {result.images} images linked in {twins / 'twin.json'}")
    found = ", ".join(f"{number} {word}" for word, number in result.objects.items()) or "no object is large enough"
    screen.print(f"labels of objects in keyframes' images, {twins / 'adopted.json'}: {found}")
