"""``uavsim view``, ``report`` and ``video``: look at a dataset before anything is trained on it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from uavsim.access import open_folder
from uavsim.environment import install_line
from uavsim.errors import InputError
from uavsim.terminal import Screen, count

if TYPE_CHECKING:
    from uavsim.view import ViewSummary

Folder = Annotated[Path, typer.Argument(help="The dataset's folder: the one that holds v1.0-mini or the like.")]
Version = Annotated[str | None, typer.Option(help="Version folder; default: the only one.")]


def view(
    folder: Folder,
    *,
    scene: Annotated[list[str] | None, typer.Option(help="Name of a scene; repeat for more. Default: all.")] = None,
    save: Annotated[Path | None, typer.Option(help="Write the recording here and open nothing.")] = None,
    web: Annotated[bool, typer.Option("--web", help="Serve a web page on 127.0.0.1, until Ctrl-C.")] = False,
    version: Version = None,
    samples: Annotated[int, typer.Option(min=1, help="The recording ends after so many keyframes.")] = 400,
    image_width: Annotated[
        int | None,
        typer.Option(min=16, help="Pixels; images are made this small. Default: 640 to 288, by their number."),
    ] = None,
    voxels: Annotated[Path | None, typer.Option(help="A folder that uavsim occupancy wrote, as Parquet.")] = None,
    port: Annotated[int, typer.Option(min=1, max=65535, help="With --web: of the data.")] = 9876,
    web_port: Annotated[int, typer.Option(min=1, max=65535, help="With --web: of the page.")] = 9090,
) -> None:
    """Look at a dataset: town, drones, cameras, boxes, tracks, masks and lidars by keyframe, in Rerun's viewer."""
    if save is not None and web:
        raise InputError("--save and --web: give one of them; a saved recording is opened with rerun FILE.rrd")
    try:
        from uavsim.view import ViewRequest, open_viewer, send_recording, write_recording
    except ImportError as error:
        raise InputError(f"the viewer is not installed ({error.name}): {install_line('viewer')}") from error
    data = open_folder(folder, version)
    if voxels is not None and next(voxels.rglob("*.parquet"), None) is None:
        raise InputError(f"--voxels {voxels}: holds no Parquet files; uavsim occupancy writes them")
    request = ViewRequest(tuple(scene or ()), most_samples=samples, image_width_px=image_width, voxels=voxels)
    screen = Screen()
    if save is not None:
        _say(write_recording(data, save, request), f"wrote {save}, {save.stat().st_size / 1e6:.1f} MB")
        return
    with open_viewer(web=web, port=port, web_port=web_port) as viewer:
        if viewer.page:
            screen.print(f"{viewer.page} until Ctrl-C")
        summary = send_recording(data, viewer.url, request, wanted=viewer.is_open)
        try:
            _say(summary, "shown")
            viewer.wait()
        except KeyboardInterrupt:
            screen.print("ended")


def _say(summary: ViewSummary, what: str) -> None:
    screen = Screen()
    for note in summary.notes:
        screen.print(f"note: {note}")
    screen.print(
        f"{what}: {count(summary.scenes, 'scene')}, {count(summary.samples, 'sample')}, {count(summary.images, 'image')}, "
        f"{summary.boxes} boxes"
    )


def report(
    folder: Folder,
    *,
    out: Annotated[Path, typer.Option(help="The page: one HTML file.")] = Path("report.html"),
    version: Version = None,
    check: Annotated[bool, typer.Option(help="Let the validator look at it, and show what it finds.")] = True,
    pixels: Annotated[bool, typer.Option(help="Let the validator decode every image; large sets take long.")] = False,
) -> None:
    """Write a page about a dataset: images, maps, histograms, scenes, findings. One file, no network, no JavaScript."""
    try:
        from uavsim.report import ReportRequest, write_report
    except ImportError as error:
        raise InputError(f"the report is not installed ({error.name}): {install_line('report')}") from error
    request = ReportRequest(check=check, pixels=pixels)
    size = write_report(open_folder(folder, version), out, request)
    Screen().print(f"wrote {out}: {size / 1e6:.1f} MB")


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
