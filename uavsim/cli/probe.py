"""``uavsim doctor``, ``conform`` and ``calibrate``: check the host and a simulator before a long run."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from uavsim.cli.options import (
    DATASET_HELP,
    JsonOption,
    RunOption,
    SimulatorOption,
    TopologyOption,
    TownsOption,
    WaitOption,
    run_config,
)
from uavsim.config.backends import backend_of
from uavsim.config.run import RunConfig
from uavsim.environment import python_command
from uavsim.errors import InputError, SimulatorError, SystemFailure
from uavsim.files.results import ResultPath
from uavsim.files.whole import write_whole
from uavsim.run.request import Request
from uavsim.simulate.one_line import ask_in_one_line
from uavsim.supervise.clients import check_clients
from uavsim.terminal import Screen, count, line, write_out

__all__ = ["calibrate", "conform", "doctor"]

_LEVEL_COLOURS = {"good": "green", "warning": "yellow", "bad": "red"}
_ANSWER_COLOURS = {"as here": "green", "other": "yellow", "not there": "red", "shown": "dim"}
_CALIBRATION_TIMEOUT_S = 180


def doctor(
    *,
    dataset: Annotated[str, typer.Option(help=DATASET_HELP)] = "smoke",
    town: TownsOption = None,
    topology: TopologyOption = None,
    out: Annotated[str, typer.Option(help="Folder of the future dataset, to check its disk.")] = "data",
    simulator: SimulatorOption = None,
    wait: WaitOption = None,
    run: RunOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run ``uavsim doctor``."""
    from uavsim.probing.doctor import examine

    request = Request(
        dataset=dataset,
        out=out,
        towns=tuple(town or ()),
        topology=topology,
        simulators=tuple(simulator or ()),
        wait_s=wait,
        run=run_config(run) or RunConfig(),
    )
    console = Screen(quiet=as_json)
    bad, found = [], []
    for finding in examine(request):
        found.append(asdict(finding))
        console.print(line((_LEVEL_COLOURS[finding.level], f"{finding.level:7}"), f" {finding.what}: {finding.found}"))
        if finding.remedy:
            console.print(f"        -> {finding.remedy}")
        if finding.level == "bad":
            bad.append(finding.what)
    if as_json:
        write_out(json.dumps({"ready": not bad, "findings": found}))
    if bad:
        raise SystemFailure(f"not ready: {', '.join(bad)}")


def conform(
    *,
    simulator: Annotated[
        str, typer.Option(help="HOST:PORT of a CARLA server that no other program uses; its town stays loaded.")
    ],
    airsim: Annotated[str, typer.Option(help="HOST:PORT of an AirSim server.")] = "",
    out: Annotated[Path, typer.Option(help="Folder for answers.json and index.html.")] = Path("conform"),
    against: Annotated[
        Path | None, typer.Option(help="answers.json to compare with; default: the headless simulator's.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit code 3 if an answer differs or is missing.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Run ``uavsim conform``."""
    from uavsim.probing.conform import behaviours
    from uavsim.probing.conform.answers import REFERENCE, AnswerFile, read_answers, write_answers
    from uavsim.probing.conform.comparison import by_capability, compare
    from uavsim.probing.conform.page import page_of
    from uavsim.probing.conform.run import NOT_ASKED, ask_everything

    if airsim:
        check_clients(backend_of("bridge"))
    reference = read_answers(against or REFERENCE)
    folder = ResultPath.open(out)
    console = Screen(quiet=as_json)

    def keep(probe: str, so_far: AnswerFile, seconds: float) -> None:
        write_answers(folder / "answers.json", so_far)
        console.print(line(("dim", f"{probe:18}"), f" {count(len(so_far.answers), 'answer')} in all, {seconds:.1f} s"))

    answer_file = ask_everything(simulator, airsim, heard=keep)
    found = compare(answer_file, reference)
    write_whole(folder / "index.html", page_of(answer_file, reference, found).encode())
    bad = []
    for capability, result, questions in by_capability(found):
        differ = [c for c in questions if c.result in {"other", "not there"}]
        console.print(
            line(
                (_ANSWER_COLOURS[result], f"{result:9}"),
                f" {capability}" + (f": {len(differ)} of {len(questions)} differ" if differ else ""),
            )
        )
        bad += [f"{capability}: {c.answer.question}" for c in differ]
    console.print(f"{out / 'index.html'}: {count(len(found), 'question')}, {answer_file.seconds:.0f} s")
    selected = behaviours.selected(answer_file)
    words = " ".join(f"--behaviour {name}={value}" for name, value in selected.items())
    console.print(f"a headless simulator with this behaviour: headless-simulator {words}".rstrip())
    if entries := behaviours.faults(answer_file):
        console.print(f"with --faults FILE, which contains faults: [{', '.join(entries)}]")
    if as_json:
        write_out(json.dumps({"answers": str(out / "answers.json"), "differ": bad, "behaviours": selected}))
    if unasked := [a.capability for a in answer_file.answers if a.note == NOT_ASKED]:
        raise SimulatorError(
            f"the simulator stopped answering; not tested: {', '.join(unasked)} (see {out / 'index.html'})"
        )
    if strict and bad:
        raise SystemFailure(f"{count(len(bad), 'answer')} differ from the reference; the first: {bad[0]}")


def calibrate(
    simulator: Annotated[str, typer.Option(help="HOST:CARLA_PORT:AIRSIM_PORT of a running merged simulator.")],
    town: Annotated[
        str, typer.Option(help="Town03, Town10HD, Town12, ... (uavsim list towns); copy the result into its YAML.")
    ],
) -> None:
    """Run ``uavsim calibrate``."""
    # in its own process, because libcarla may abort it
    host, *ports = simulator.split(":")
    if not host or len(ports) != 2 or not all(map(_is_port, ports)):
        raise InputError(f"--simulator {simulator!r} is not HOST:CARLA_PORT:AIRSIM_PORT, with ports of 1 to 65535")
    check_clients(backend_of("merged"))
    where = ("--carla", f"{host}:{ports[0]}", "--airsim", f"{host}:{ports[1]}")
    command = python_command("uavsim.probing.calibrate", *where)
    found = ask_in_one_line(command, server=simulator, limit_s=_CALIBRATION_TIMEOUT_S)["measurement"]
    origin = ", ".join(f"{v:.3f}" for v in found["origin_ue_m"])
    console = Screen()
    console.print(f"{found['points']} places, residual {found['residual_m']:.4f} m, worst {found['worst_m']:.4f} m, "
                  f"turn {found['turn_deg']:.4f} degrees")  # fmt: skip
    console.print(f"town_configs/{town.lower()}.yaml:  airsim_origin_ue_m: [{origin}]")


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 5 and 1 <= int(text) <= 65535
