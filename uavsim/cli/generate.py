"""``uavsim generate`` and ``uavsim regenerate``: the main job."""

from __future__ import annotations

import importlib.util
import json
import logging
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from uavsim.cli.options import (
    DATASET_HELP,
    CheckOption,
    DryRunOption,
    FormationOption,
    JsonOption,
    RigOption,
    RunOption,
    SamplesOption,
    SeedOption,
    SettleOption,
    SimulatorOption,
    TopologyOption,
    TownsOption,
    WaitOption,
    WeatherOption,
    overrides_of,
    run_config,
)
from uavsim.config.run import RunConfig
from uavsim.environment import install_line, own_command
from uavsim.errors import InputError
from uavsim.run.request import Request
from uavsim.terminal import Screen, count, duration, line, size, write_out
from uavsim.typing import JsonDict

if TYPE_CHECKING:
    from uavsim.run.result import Result

__all__ = ["generate", "refuse_lists", "regenerate", "run_request"]


def generate(
    *,
    dataset: Annotated[str | None, typer.Option(help=DATASET_HELP)] = None,
    out: Annotated[str | None, typer.Option(help="Folder, or an object store's URL, s3://bucket/prefix.")] = None,
    town: TownsOption = None,
    scenes: Annotated[str | None, typer.Option(help="Scene numbers, 0-4,7.")] = None,
    samples: SamplesOption = None,
    seed: SeedOption = None,
    topology: TopologyOption = None,
    formation: FormationOption = None,
    rig: RigOption = None,
    weather: WeatherOption = None,
    settle: SettleOption = None,
    simulator: SimulatorOption = None,
    wait: WaitOption = None,
    run: RunOption = None,
    force_scenes: Annotated[bool, typer.Option("--force-scenes", help="Also fly committed scenes again.")] = False,
    check: CheckOption = True,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run ``uavsim generate``."""
    overrides = overrides_of(locals())
    refuse_lists(town or ())
    config = run_config(run) or RunConfig()
    name, address = dataset or config.dataset, out or config.out
    if name is None or address is None:
        missing = "--dataset" if name is None else "--out"
        raise InputError(f"{missing} is missing; for example: uavsim generate --dataset smoke --out data/smoke")
    request = Request(
        dataset=name,
        out=address,
        towns=tuple(town or config.towns),
        scenes=scenes,
        **overrides.instead_of(seed=config.seed, topology=config.topology),
        simulators=tuple(simulator or ()),
        wait_s=wait,
        force=force_scenes,
        check=check,
        run=config,
    )
    run_request(request, dry_run=dry_run, as_json=as_json)


def refuse_lists(towns: Sequence[str]) -> None:
    """Refuse a list of towns in one argument, with the correct command.

    Raises:
        InputError: a name holds a comma.
    """
    for name in towns:
        if "," in name:
            each = " ".join(f"--town {part.strip()}" for part in name.split(",") if part.strip())
            raise InputError(f"--town {name}: give one town per option: {each}")


def regenerate(
    folder: Annotated[Path, typer.Argument(help="The dataset's folder.")],
    *,
    scenes: Annotated[
        str | None, typer.Option(help="Scene numbers to fly again; default: those in quarantine.")
    ] = None,
    failed: Annotated[bool, typer.Option("--failed", help="Fly the scenes in quarantine again; the default.")] = False,
    simulator: SimulatorOption = None,
    wait: WaitOption = None,
    run: RunOption = None,
    check: CheckOption = True,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run ``uavsim regenerate``."""
    from uavsim.run.regenerate import request_of_folder

    if failed and scenes is not None:
        raise InputError("--failed and --scenes: give one of them")
    request = request_of_folder(folder, scenes=scenes, simulators=tuple(simulator or ()), run=run_config(run))
    run_request(request.model_copy(update={"check": check, "wait_s": wait}), dry_run=dry_run, as_json=as_json)


def run_request(request: Request, *, dry_run: bool, as_json: bool) -> None:
    """Fly the scenes of a request, or print them for --dry-run; end with the run's exit code."""
    if dry_run:
        _print_intent(request, as_json=as_json)
        return
    from uavsim.flows.command import generate as run_generate

    logging.raiseExceptions = (
        False  # else a log that does not reach a Prefect server is printed amid the run's progress
    )
    result = run_generate(request, console=Screen(stderr=True))
    if as_json:
        write_out(json.dumps(_as_json(result)))
    out = Screen(quiet=as_json)
    content = f"{count(len(result.committed), 'scene')}, {count(result.images, 'image')}"
    if result.flown or len(result.committed) < 1:
        out.print(f"{content} in {result.seconds:.0f} s: {result.address}")
        out.print(f"{duration(result.simulator_s)} of simulators, {size(result.size_bytes)} of files")
    elif not result.unfinished and not result.quarantined:
        out.print(f"nothing to do: {content} exist already: {result.address}")
    if result.contact_sheet is not None:
        out.print(f"contact sheet: {result.contact_sheet}")
    if result.valid is not None:
        out.print(line("valid" if result.valid else ("red", "not valid")))
        for finding in result.findings:
            out.print(f"  {finding}")
    if result.error is not None:
        raise result.error
    if result.contact_sheet is not None:
        _print_next_steps(out, result.address)


def _print_next_steps(out: Screen, folder: str) -> None:
    name = shlex.quote(folder)
    page = shlex.quote(f"{folder.rstrip('/')}-report.html")
    command = own_command()
    out.print("next:")
    out.print(f"  {command} report {name} --out {page}")
    has_viewer = all(map(importlib.util.find_spec, ("rerun", "uavsim.viewing")))
    without = "" if has_viewer else f"   # needs the viewer: {install_line('viewer')}"
    out.print(f"  {command} view {name} --web{without}")
    out.print(f"  {own_command('python')} -c \"import uavsim; print(uavsim.open('{folder}').scene_names)\"")


def _as_json(result: Result) -> JsonDict:
    return {
        "address": result.address,
        "committed": result.committed,
        "quarantined": result.quarantined,
        "unfinished": result.unfinished,
        "images": result.images,
        "seconds": round(result.seconds, 2),
        "simulator_hours": round(result.simulator_s / 3600, 4),
        "size_bytes": result.size_bytes,
        "valid": result.valid,
        "findings": result.findings,
        "contact_sheet": str(result.contact_sheet) if result.contact_sheet is not None else None,
    }


def _print_intent(request: Request, *, as_json: bool) -> None:
    """Run the checks of a run, and print the scenes it would fly."""
    from uavsim.on_top import ON_TOP
    from uavsim.run.intent import intent_of

    intent = intent_of(request, ON_TOP)
    if as_json:
        write_out(json.dumps(intent.as_json()))
        return
    screen = Screen()
    screen.print(
        f"{intent.dataset} into {intent.address}: {count(len(intent.to_fly), 'scene')} x {count(intent.samples, 'sample')} "
        f"would be flown, {count(len(intent.to_fly) * intent.images_per_scene, 'image')}; "
        f"kept: {count(len(intent.unchanged), 'scene')}"
        + (f", replaced: {count(len(intent.replaced), 'scene')}" if intent.replaced else "")
    )
    for town, names in intent.by_town.items():
        screen.print(f"  {town}: {' '.join(names[:8])}{f' and {len(names) - 8} more' if len(names) > 8 else ''}")
    screen.print("nothing was started or written (--dry-run)")
