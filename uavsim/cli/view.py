"""``uavsim video``: look at a dataset before anything is trained on it."""

from pathlib import Path
from typing import Annotated

import typer

from uavsim.terminal import Screen

Folder = Annotated[Path, typer.Argument(help="The dataset's folder: the one that holds v1.0-mini or the like.")]
Version = Annotated[str | None, typer.Option(help="Version folder; default: the only one.")]


def video(
    folder: Folder,
    *,
    out: Annotated[Path, typer.Option(help="The video: .mp4 or .gif.")] = Path("video.mp4"),
    version: Version = None,
    scene: Annotated[str | None, typer.Option(help="Name of the scene. Default: the first.")] = None,
    camera: Annotated[
        list[str] | None,
        typer.Option(help="Channel, as CAMERA_FRONT_id_0; repeat for more. Default: up to six, of all drones in turn."),
    ] = None,
    columns: Annotated[int, typer.Option(min=0, help="Of the grid; 0: about as many as rows.")] = 0,
    width: Annotated[int, typer.Option(min=64, max=7680, help="Of the whole video, pixels.")] = 1280,
    fps: Annotated[float, typer.Option(min=0, max=240, help="Frames a second; 0: as the images were taken.")] = 0.0,
    frames: Annotated[int, typer.Option(min=0, help="The first so many; 0: all.")] = 0,
    boxes: Annotated[bool, typer.Option(help="Draw the boxes that each image shows.")] = True,
) -> None:
    """Make a video of chosen cameras as a grid, with boxes, to show to people."""
    from uavsim.export.video import VideoRequest, write_video

    request = VideoRequest(
        root=folder, path=out, version=version, scene=scene, cameras=tuple(camera or ()), columns=columns, width_px=width,
        fps=fps, frames=frames, boxes=boxes,
    )  # fmt: skip
    count, rate, size = write_video(request)
    Screen().print(f"wrote {out}: {count} frames at {rate:g} a second, {size / 1e6:.1f} MB")
