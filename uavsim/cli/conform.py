"""``uavsim conform``: what a simulator can do, beside what the headless simulator does."""

import json
from pathlib import Path
from typing import Annotated

import typer

from uavsim.cli.generate import JsonOption
from uavsim.config.backends import backend_of
from uavsim.errors import SystemFailure
from uavsim.files.results import ResultPath
from uavsim.files.whole import write_whole
from uavsim.supervise.clients import check_clients
from uavsim.terminal import Screen, count, line, write_out

_COLOURS = {"as here": "green", "other": "yellow", "not there": "red", "shown": "dim"}


def conform(
    *,
    simulator: Annotated[
        str, typer.Option(help="HOST:PORT of a CARLA server that nobody else uses; it stays in its town.")
    ],
    airsim: Annotated[str, typer.Option(help="HOST:PORT of an AirSim server.")] = "",
    out: Annotated[Path, typer.Option(help="Folder for answers.json and index.html.")] = Path("conform"),
    against: Annotated[
        Path | None, typer.Option(help="Another answers.json, instead of the headless simulator's.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit code 3 where something is other, or not there.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Ask a simulator what it can do, in a quarter of an hour, and lay its answers beside the headless simulator's."""
    from uavsim.conform.answers import REFERENCE, read_answers, write_answers
    from uavsim.conform.comparison import by_capability, compare
    from uavsim.conform.page import page_of
    from uavsim.conform.run import ask_everything

    if airsim:
        check_clients(backend_of("bridge"))
    reference = read_answers(against or REFERENCE)
    folder = ResultPath.open(out)
    console = Screen(quiet=as_json)
    given = ask_everything(
        simulator,
        airsim,
        heard=lambda name, n, s: console.print(line(("dim", f"{name:18}"), f" {count(n, 'answer')} in all, {s:.1f} s")),
    )
    found = compare(given, reference)
    write_answers(folder / "answers.json", given)
    write_whole(folder / "index.html", page_of(given, reference, found).encode())
    bad = []
    for capability, result, questions in by_capability(found):
        differ = [c for c in questions if c.result in {"other", "not there"}]
        console.print(
            line(
                (_COLOURS[result], f"{result:9}"),
                f" {capability}" + (f": {len(differ)} of {len(questions)} differ" if differ else ""),
            )
        )
        bad += [f"{capability}: {c.answer.question}" for c in differ]
    console.print(f"{out / 'index.html'}: {count(len(found), 'question')}, {given.seconds:.0f} s")
    if as_json:
        write_out(json.dumps({"answers": str(out / "answers.json"), "differ": bad}))
    if strict and bad:
        raise SystemFailure(f"{count(len(bad), 'answer')} not as in the reference, the first: {bad[0]}")
