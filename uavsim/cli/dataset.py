"""``uavsim annotate`` and ``convert``: work on datasets and recordings on disk; no simulator needed."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import typer

from uavsim.access import open_folder
from uavsim.annotate import AnnotateOptions, annotate, options_of_plan, write_label_files
from uavsim.annotate.relocate import in_dataset
from uavsim.capture.recording_reader import LOG_NAME, read_recording
from uavsim.cli.options import DatasetFolder, NewFolder, WriteNothingOption, print_intent
from uavsim.dataset import assemble, draw_map_mask, final_paths, pack_fragment, scene_fragment
from uavsim.dataset.convert import conversion_job, convert
from uavsim.dataset.dialects import DIALECTS
from uavsim.dataset.dialects.uav3d.format import Uav3dOptions
from uavsim.dataset.dialects.uav3d.infos import check_centre_camera, write_uav3d_infos
from uavsim.dataset.fragment import in_generation
from uavsim.errors import InputError
from uavsim.files.bring import bring_file
from uavsim.files.names import DataFolder
from uavsim.files.parse import reading
from uavsim.files.result_folder import check_result_beside
from uavsim.files.results import ResultPath
from uavsim.records.classes import LABELS
from uavsim.records.plan import ScenePlan
from uavsim.records.recording import Recording
from uavsim.registry import pick
from uavsim.run.finish import assemble_tables, committed_scenes
from uavsim.store.commit import generation_of
from uavsim.store.ledger import LedgerEntry
from uavsim.store.output import Output
from uavsim.store.places import open_output
from uavsim.terminal import Screen, count


def annotate_again(
    target: Annotated[Path, typer.Argument(help="A dataset, or a recording (a folder with log.msgpack and images).")],
    *,
    scenes: Annotated[str | None, typer.Option(help="Names of scenes, separated by commas; default: all.")] = None,
    classes: Annotated[str | None, typer.Option(help=f"Classes, separated by commas: {', '.join(LABELS)}.")] = None,
    range_m: Annotated[
        float | None, typer.Option(min=1.0, help="Greatest distance of labelled objects from a drone, metres.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="With a recording: folder of the new dataset.")] = None,
) -> None:
    """Run ``uavsim annotate``."""

    def options(plan: ScenePlan) -> AnnotateOptions:
        chosen = options_of_plan(plan)
        if classes is not None:
            chosen = replace(chosen, classes=tuple(name.strip() for name in classes.split(",") if name.strip()))
        return chosen if range_m is None else replace(chosen, range_m=range_m)

    if (target / LOG_NAME).is_file():
        if out is None:
            raise InputError(f"{target}: is a recording; name the folder of the new dataset with --out")
        _label_recording(target, out, options=options(read_recording(target).plan))
        return
    output = open_output(str(target))
    known = {entry.scene: entry for entry in committed_scenes(output)} if (target / ".uavsim").is_dir() else {}
    if not known:
        raise InputError(f"{target}: neither a recording ({LOG_NAME}) nor a dataset with committed scenes")
    requested_names = [name.strip() for name in scenes.split(",")] if scenes else list(known)
    for entry in [pick(known, name, what="scene") for name in requested_names]:
        _label_committed(output, entry, options=options)
        Screen().print(f"labelled {entry.scene}")
    versions = assemble_tables(output)
    output.sweep_leftovers()  # of a killed process
    Screen().print(f"wrote {', '.join(versions)} of {target}")


def _label_committed(output: Output, entry: LedgerEntry, *, options: Callable[[ScenePlan], AnnotateOptions]) -> None:
    generation = generation_of(entry)
    stored_recording = read_recording(output.root / generation.recording)
    recording = in_dataset(stored_recording, output.root, generation=generation.number)
    with reading(output.root / generation.recording):
        rows = scene_fragment(annotate(recording, options=options(recording.plan)))
    with output.lock(entry.scene) as locked:
        if not locked:
            raise InputError(f"scene {entry.scene} is in use by another process; try again later")
        output.replace(generation.fragment, pack_fragment(in_generation(rows, generation.number)))


def _label_recording(target: Path, out: Path, *, options: AnnotateOptions) -> None:
    check_result_beside(target, out)
    result, recorded = ResultPath.open(out), DataFolder(target)
    if not result.is_empty():
        raise InputError(f"{out}: is not empty; choose a new folder")
    recording: Recording = read_recording(target)
    with reading(target):
        fragment = pack_fragment(scene_fragment(annotate(recording, options=options)))
    for old, new in {**final_paths(recording), **write_label_files(recording)}.items():
        bring_file(recorded.open(old), result / new)
    site = recording.plan.town
    drivable = recording.drivable_map_m
    masks = {} if drivable is None else {site.name: draw_map_mask(site, list(drivable))}
    (version,) = assemble(out, [fragment], map_masks=masks)
    Screen().print(f"wrote {version.version} of {out}: {version.row_count['sample_annotation']} boxes")


def convert_dialect(
    folder: DatasetFolder,
    out: NewFolder,
    *,
    dialect: Annotated[str, typer.Option(help="Dialect to write: strict, uav3d, or one of an installed package.")],
    timestamp_unit: Annotated[
        Literal["us", "ns"], typer.Option(help="uav3d: ns as in the release, us for correct velocities.")
    ] = "us",
    num_pts: Annotated[
        Literal["visible", "minus_one"], typer.Option(help="uav3d: pixels, or -1 as in the release.")
    ] = "visible",
    infos: Annotated[bool, typer.Option(help="uav3d: also write uav3d_infos_*.pkl.")] = True,
    data_path: Annotated[str, typer.Option(help="uav3d: folder of the images for UAV3D's code.")] = "./data/uav3d/v1.0",
    dry_run: WriteNothingOption = False,
) -> None:
    """Run ``uavsim convert``."""
    check_result_beside(folder, out)
    options = Uav3dOptions(timestamp_unit=timestamp_unit, num_pts=num_pts) if dialect == "uav3d" else None
    if dialect == "uav3d" and infos:
        check_centre_camera(folder)
    if dry_run:
        DIALECTS.pick(dialect)
        print_intent(open_folder(folder), f"written to {out} in the dialect {dialect}")
        return
    result = ResultPath.open(out)
    job = conversion_job(folder, dialect, (options, infos, data_path))
    with result.unfinished(job):
        for version in convert(folder, result, dialect=dialect, options=options):
            Screen().print(f"wrote {version.version}: {count(len(version.scenes), 'scene')} in the dialect {dialect}")
            if dialect == "uav3d" and infos:
                written = write_uav3d_infos(out, result, version=version.version, data_path=data_path)
                Screen().print(f"wrote {', '.join(path.name for path in written)}")
