"""``uavsim view`` and ``uavsim report``: look at a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from uavsim.access import open_folder
from uavsim.cli.options import DatasetFolder, VersionOption
from uavsim.environment import install_line
from uavsim.errors import InputError
from uavsim.files.result_folder import refuse_inside
from uavsim.terminal import Screen, count

if TYPE_CHECKING:
    from uavsim.viewing.view import ViewSummary


def view(
    folder: DatasetFolder,
    *,
    scene: Annotated[list[str] | None, typer.Option(help="Name of a scene; repeat for more; default: all.")] = None,
    save: Annotated[Path | None, typer.Option(help="File for the recording; no viewer opens.")] = None,
    web: Annotated[bool, typer.Option("--web", help="Serve a web page on 127.0.0.1, until Ctrl-C.")] = False,
    version: VersionOption = None,
    samples: Annotated[int, typer.Option(min=1, help="End the recording after this many keyframes.")] = 400,
    image_width: Annotated[
        int | None,
        typer.Option(min=16, help="Width of images, pixels; default: 640 to 288, less for more images."),
    ] = None,
    voxels: Annotated[Path | None, typer.Option(help="Folder of Parquet voxels that uavsim occupancy wrote.")] = None,
    port: Annotated[int, typer.Option(min=1, max=65535, help="With --web: port of the data.")] = 9876,
    web_port: Annotated[int, typer.Option(min=1, max=65535, help="With --web: port of the page.")] = 9090,
) -> None:
    """Run ``uavsim view``."""
    if save is not None and web:
        raise InputError("--save and --web: give one of them; rerun FILE.rrd opens a saved recording")
    try:
        from uavsim.viewing.view import ViewRequest, open_viewer, send_recording, write_recording
    except ImportError as error:
        raise InputError(f"the viewer is not installed ({error.name}): {install_line('viewer')}") from error
    if save is not None:
        refuse_inside(folder, save)
    data = open_folder(folder, version)
    if voxels is not None and next(voxels.rglob("*.parquet"), None) is None:
        raise InputError(f"--voxels {voxels}: holds no Parquet files; uavsim occupancy writes them")
    request = ViewRequest(tuple(scene or ()), most_samples=samples, image_width_px=image_width, voxels=voxels)
    screen = Screen()
    if save is not None:
        _print(write_recording(data, save, request), f"wrote {save}, {save.stat().st_size / 1e6:.1f} MB")
        return
    with open_viewer(web=web, port=port, web_port=web_port) as viewer:
        if viewer.page:
            screen.print(f"{viewer.page} until Ctrl-C")
        summary = send_recording(data, viewer.url, request, is_open=viewer.is_open)
        try:
            _print(summary, "shown")
            viewer.wait()
        except KeyboardInterrupt:
            screen.print("ended")


def _print(summary: ViewSummary, verb: str) -> None:
    screen = Screen()
    for note in summary.notes:
        screen.print(f"note: {note}")
    screen.print(
        f"{verb}: {count(summary.scenes, 'scene')}, {count(summary.samples, 'sample')}, {count(summary.images, 'image')}, "
        f"{summary.boxes} boxes"
    )


def report(
    folder: DatasetFolder,
    *,
    out: Annotated[Path, typer.Option(help="The page: one HTML file.")] = Path("report.html"),
    version: VersionOption = None,
    check: Annotated[bool, typer.Option(help="Run the validator and show its findings.")] = True,
    pixels: Annotated[bool, typer.Option(help="Let the validator decode every image; slow on large datasets.")] = False,
) -> None:
    """Run ``uavsim report``."""
    from uavsim.viewing.report import ReportRequest, write_report

    refuse_inside(folder, out)
    request = ReportRequest(check=check, pixels=pixels)
    size = write_report(open_folder(folder, version), out, request)
    Screen().print(f"wrote {out}: {size / 1e6:.1f} MB")
