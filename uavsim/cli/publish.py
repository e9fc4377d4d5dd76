"""``uavsim publish``, ``verify`` and ``reproduce``: publish a dataset, check a download, regenerate scenes."""

import json
from datetime import date as calendar_date
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from uavsim.cli.options import (
    DatasetFolder,
    JsonOption,
    RunOption,
    SimulatorOption,
    VersionOption,
    WriteNothingOption,
    print_intent,
    run_config,
)
from uavsim.environment import install_line
from uavsim.errors import DatasetError, InputError
from uavsim.files.result_folder import check_result_beside
from uavsim.files.scratch import scratch_folder
from uavsim.terminal import Screen, count, line, write_out

__all__ = ["publish", "reproduce", "verify"]


def publish(
    folder: DatasetFolder,
    *,
    out: Annotated[Path, typer.Option(help="A new folder for the pack.")],
    version: VersionOption = None,
    name: Annotated[str | None, typer.Option(help="Name of the dataset; default: the name in its YAML.")] = None,
    licence: Annotated[str, typer.Option("--licence", "--license", help="Licence, as the Hub names it.")] = "cc-by-4.0",
    creator: Annotated[str, typer.Option(help="Person or organisation that publishes the dataset.")] = "uavsim",
    url: Annotated[str, typer.Option(help="Web address of the published dataset.")] = "https://example.org",
    date: Annotated[str | None, typer.Option(help="Date of publication, such as 2026-11-22; default: today.")] = None,
    shards: Annotated[bool, typer.Option(help="Also write the nuScenes folder as tar files.")] = True,
    dry_run: WriteNothingOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run ``uavsim publish``."""
    try:
        from uavsim.exports.publish import PublishRequest
        from uavsim.exports.publish import publish as write
    except ImportError as error:
        raise InputError(f"publishing is not installed ({error.name}): {install_line('publish')}") from error
    from uavsim.access import open_folder

    check_result_beside(folder, out)
    if date is not None:
        try:
            calendar_date.fromisoformat(date)
        except ValueError as error:
            raise InputError(f"--date {date!a}: write a date as 2026-11-22") from error
    request = PublishRequest(name=name, licence=licence, creator=creator, url=url, date=date, shards=shards)
    data = open_folder(folder, version)
    if dry_run:
        _refuse_full(out)
        found = {"out": str(out), "scenes": len(data.scene_names), "samples": sum(map(len, data))}
        if as_json:
            write_out(json.dumps(found))
        else:
            print_intent(data, f"published to {out}")
        return
    done = write(data, out, request)
    if as_json:
        found = {"out": str(out), "files": done.files, "rows": done.rows, "size_bytes": done.size_bytes}
        write_out(json.dumps(found | {"certified_scenes": done.certified_scenes, "sums_sha256": done.sums_sha256}))
        return
    certified = (
        f"{count(done.certified_scenes, 'scene')} certified"
        if done.certified_scenes
        else "no certificate: the dataset has no ledger"
    )
    Screen().print(f"wrote {out}: {done.files} files, {done.rows} rows, {done.size_bytes / 1e6:.1f} MB; {certified}")
    Screen().print(f"sha256 of SHA256SUMS, for uavsim verify --sums-sha256: {done.sums_sha256}")


def verify(
    pack: Annotated[Path, typer.Argument(help="A folder that uavsim publish wrote.")],
    *,
    sums_sha256: Annotated[
        str | None,
        typer.Option(help="The sha256 of SHA256SUMS, as printed by uavsim publish; verifies the list itself."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Run ``uavsim verify``."""
    try:
        from uavsim.exports.publish import verify as check
    except ImportError as error:
        raise InputError(f"publishing is not installed ({error.name}): {install_line('publish')}") from error
    files, reported_sha256 = check(pack, sums_sha256=sums_sha256)
    if as_json:
        write_out(json.dumps({"pack": str(pack), "files": files, "ok": True, "sums_sha256": reported_sha256}))
    else:
        Screen().print(f"{pack}: {files} files are as they were published; sha256 of SHA256SUMS: {reported_sha256}")


def reproduce(
    card: Annotated[Path, typer.Argument(help="README.md of a pack, or its folder.")],
    *,
    scenes: Annotated[str, typer.Option(help="Scene numbers, 0-4,7.")],
    out: Annotated[Path | None, typer.Option(help="Keep the new scenes in this new folder.")] = None,
    simulator: SimulatorOption = None,
    run: RunOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run ``uavsim reproduce``."""
    try:
        from uavsim.exports.reproduce import reproduce as make
    except ImportError as error:
        raise InputError(f"publishing is not installed ({error.name}): {install_line('publish')}") from error
    from uavsim.flows.command import generate

    if out is not None:
        _refuse_full(out)
    with scratch_folder("uavsim-reproduce-") as scratch:
        target = out or scratch / "dataset"
        results, differing = make(
            card,
            target,
            scenes=scenes,
            simulators=tuple(simulator or ()),
            run=run_config(run),
            generate=partial(generate, console=Screen(stderr=True)),
        )
    if as_json:
        parts_of = [{"scene": r.scene, "plan": r.plan, "files": r.files, "rows": r.rows} for r in results]
        write_out(json.dumps({"scenes": parts_of, "notes": differing}))
    screen = Screen(quiet=as_json)
    for note in differing:
        screen.print(f"note: {note}")
    for result in results:
        parts = {"plan": result.plan, "files": result.files, "rows": result.rows}
        words = [f"{name} {'equal' if same else 'differ'}" for name, same in parts.items()]
        screen.print(line(f"{result.scene}: ", ("green" if result.equal else "red", ", ".join(words))))
    if not all(result.equal for result in results):
        raise DatasetError(f"{card}: {sum(not r.equal for r in results)} of {len(results)} scenes differ from the card")


def _refuse_full(out: Path) -> None:
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out}: is not empty; choose a new folder")
