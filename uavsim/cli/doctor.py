"""``uavsim doctor``: one command before a long run."""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from uavsim.cli.generate import JsonOption, RunOption, SimulatorOption
from uavsim.config.library import Library
from uavsim.config.run import RunConfig
from uavsim.errors import SystemFailure
from uavsim.run.request import Request
from uavsim.terminal import Screen, line, write_out

_COLOURS = {"good": "green", "warning": "yellow", "bad": "red"}


def doctor(
    *,
    dataset: Annotated[str, typer.Option(help="That is to be made.")] = "smoke",
    town: Annotated[list[str] | None, typer.Option(help="Default: all of the dataset; repeat for several.")] = None,
    topology: Annotated[str | None, typer.Option(help="Instead of the dataset's.")] = None,
    out: Annotated[str, typer.Option(help="Where the dataset is to be; its disk is looked at.")] = "data",
    simulator: SimulatorOption = None,
    run: RunOption = None,
    as_json: JsonOption = False,
) -> None:
    """Look at clients, servers, maps, pace, disk and clock, by one short flight a town; exit code 3 if something is bad."""
    from uavsim.run.doctor import examine

    config = Library.of().run(run).model if run else RunConfig()
    request = Request(
        dataset=dataset,
        out=out,
        towns=tuple(town or ()),
        topology=topology,
        simulators=tuple(simulator or ()),
        run=config,
    )
    console = Screen(quiet=as_json)
    bad, found = [], []
    for finding in examine(request):
        found.append(asdict(finding))
        console.print(line((_COLOURS[finding.level], f"{finding.level:7}"), f" {finding.what}: {finding.found}"))
        if finding.remedy:
            console.print(f"        -> {finding.remedy}")
        if finding.level == "bad":
            bad.append(finding.what)
    if as_json:
        write_out(json.dumps({"ready": not bad, "findings": found}))
    if bad:
        raise SystemFailure(f"not ready: {', '.join(bad)}")
