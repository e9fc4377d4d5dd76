"""The command line: one module per job; every error of ours is one line and an exit code.

Exit codes: 0 good, 1 our own mistake, 2 bad input, 3 simulator or system, 4 dataset not valid, 130 interrupted.
"""

import errno
import importlib
import importlib.metadata
import os
import re
import shlex
import sys
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from typing import Annotated, Final

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException
from typer.main import get_command, get_command_name

from uavsim.cli.examples import epilog_of
from uavsim.cli.stop import INTERRUPTED, StopSignals
from uavsim.environment import DISTRIBUTION, install_line, keep_local_direct, name_the_user, own_command
from uavsim.errors import ConfigError, InputError, UavsimError
from uavsim.files.whole import AGAIN, remedy_of
from uavsim.registry import Registry, package_behind
from uavsim.terminal import Screen, be_quiet, line, open_standard_streams

__all__ = ["COMMANDS", "build_app", "build_overview", "main", "with_quiet"]

_HOME: Final = {  # command -> module and function; imported when the command is asked for, because scipy and Prefect are slow
    "generate": "generate:generate",
    "regenerate": "generate:regenerate",
    "status": "status:status",
    "plan": "configs:plan",
    "check": "configs:check",
    "schema": "configs:schema",
    "annotate": "dataset:annotate_again",
    "convert": "dataset:convert_dialect",
    "validate": "validate:validate",
    "mock-sim": "simulator:mock_sim",
    "airsim-settings": "simulator:airsim_settings",
    "deploy": "deploy:deploy",
    "ui": "ui:ui",
}
_SETTINGS: Final[dict[str, dict[str, object]]] = {
    "mock-sim": {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
}
_APART: Final = {
    **dict.fromkeys(("events", "collaboration", "questions", "evaluate"), "benchmarks"),
    **dict.fromkeys(("adopt", "export", "publish", "reproduce", "verify", "video"), "exports"),
    **dict.fromkeys(("doctor", "conform", "calibrate"), "probing"),
    **dict.fromkeys(("replay", "twins"), "replays"),
    "map": "maps",
    "occupancy": "occupancy",
    "report": "report",
    "view": "viewer",
}
"""Command -> the extra of uavsim whose package brings it."""
Register = Callable[[typer.Typer], None]
COMMANDS: Final[Registry[Register]] = Registry("commands", {}, expects=Callable)
"""Commands of installed packages: each is a function that adds it to the application."""
_AFTER_CLAUSE: Final = re.compile(r"[:;]| \(|\.( |$)")
_CONTINUED: Final = ("generate", "regenerate")
_NO_THREAD: Final = "can't start new thread"  # as the interpreter reports a limit of the host
_HELP: Final = {  # first sentences of the commands, for `uavsim --help`, which imports none of them
    "generate": "Fly a dataset; what was interrupted continues.",
    "regenerate": "Fly scenes of a dataset anew, with the settings that it was made with.",
    "replay": "Show the recorded scenes of a dataset again, changed; what was interrupted continues.",
    "twins": "Show the same instants without an occluder, in another weather or skin, and link them; default: its YAML's "
    "`twins:`.",
    "adopt": "Take videos back as an image twin of a dataset, and say of each object whether its label still holds.",
    "status": "Show what is done, flying, quarantined and missing, and how long the rest takes. Changes nothing.",
    "plan": "Show what would fly, as a table and as an image; or make a town's routes.",
    "check": "Check YAML files and what they refer to, without a simulator.",
    "schema": "Write the JSON Schemas of all YAML files, for editors.",
    "annotate": "Label again what was recorded, with no simulator; a dataset's tables are written anew in place.",
    "convert": "Write a dataset in another dialect, both ways without loss; image files are hard-linked.",
    "export": "Write a dataset in another format: COCO, KITTI, OPV2V, Griffin, COLMAP, Cosmos, ROS 2 bags and others.",
    "validate": "Check a dataset by what is on disk; exit code 4 when a check fails.",
    "view": "Look at a dataset: town, drones, cameras, boxes, tracks, masks and lidars by keyframe, in Rerun's viewer.",
    "video": "Make a video of chosen cameras as a grid, with boxes, to show to people.",
    "report": "Write a page about a dataset: images, maps, histograms, scenes, findings. One file, no "
    "network, no JavaScript.",
    "publish": "Write what a dataset needs to be uploaded and used from where it lies: Parquet, tar files, "
    "card, Croissant, hashes.",
    "verify": "Check a download: every file is there and is the one that was published, no other is; exit code 4 when not.",
    "reproduce": "Make scenes again from the card alone, and compare hashes; exit code 4 when one differs.",
    "events": "Label images and samples by rule: quality, degradations, what hinders objects, when to ask whom for what, "
    "and why.",
    "collaboration": "Say what each drone is worth for each object, exactly, over all subsets of the swarm; and who helps "
    "whom.",
    "questions": "Write questions with four options in AirCopBench's files, with no language model, and a report of "
    "their quality.",
    "evaluate": "Score a result; nothing is written when it is refused.",
    "map": "Make a vector map of a town's roads from OpenDRIVE: nuScenes' map expansion, GeoJSON, lane graphs.",
    "occupancy": "Label voxels: what stands, what moves, what is air, and who sees it.",
    "mock-sim": "Serve CARLA's and AirSim's real protocols with no GPU.",
    "airsim-settings": "Write AirSim's settings.json for a formation and rig.",
    "calibrate": "Measure where AirSim's origin lies in CARLA's town.",
    "doctor": "Look at clients, servers, maps, pace, disk and clock, by one short flight a town; exit code 3 "
    "if something is bad.",
    "conform": "Ask a simulator what it can do, in a quarter of an hour, and lay its answers beside the headless simulator's.",
    "deploy": "Register every flow as a deployment that workers pick up (PREFECT_API_URL names the server).",
    "ui": "Serve Prefect's pages of your runs, past ones too, until Ctrl-C; while it is up, your runs show there.",
}


_QUIET_HELP: Final = "Print errors alone, and what --json asks for."
_GROUPS: Final = {
    "Make": ("plan", "generate", "regenerate", "replay", "twins", "adopt", "status", "deploy"),
    "Look": ("view", "video", "report", "ui"),
    "Check": ("check", "doctor", "conform", "validate", "schema"),
    "Label": ("annotate", "events", "collaboration", "questions", "occupancy", "evaluate"),
    "Share": ("convert", "export", "map", "publish", "verify", "reproduce"),
    "Simulate": ("mock-sim", "airsim-settings", "calibrate"),
}
_GROUP_OF: Final = {command: group for group, commands in _GROUPS.items() for command in commands}


def _hush(asked: bool) -> None:
    if asked:
        be_quiet()


def _say_version(asked: bool) -> None:
    if asked:
        typer.echo(f"uavsim {importlib.metadata.version(DISTRIBUTION)}")
        raise typer.Exit


def build_app(command: str | None = None) -> typer.Typer:
    """Return the command line with one command, or with all when none or an unknown one is asked for."""
    app = _empty_app()
    for register in dict.fromkeys(_registers(command)):  # one function may bring several commands
        register(app)
    for info in app.registered_commands:
        info.epilog = epilog_of(info.name or get_command_name(getattr(info.callback, "__name__", "")))
    return app


def build_overview() -> typer.Typer:
    """Return the command line with the name and the help of every command, and nothing behind them."""
    app = _empty_app()
    grouped = [command for commands in _GROUPS.values() for command in commands]
    for command in dict.fromkeys([*grouped, *COMMANDS.names()]):
        text = _HELP.get(command, "Of an installed package.")
        panel = _GROUP_OF.get(command, "Of installed packages")
        app.command(name=command, help=text, short_help=_AFTER_CLAUSE.split(text)[0], rich_help_panel=panel)(_nothing)
    return app


def _registers(command: str | None) -> Iterator[Register]:
    if command in _HOME:
        yield partial(_register, command)
    elif command in COMMANDS.names():
        yield COMMANDS.pick(command)
    elif command in _APART:
        raise InputError(f"uavsim {command} is not installed: {install_line(_APART[command])}")
    else:
        yield from (partial(_register, name) for name in _HOME)
        yield from map(COMMANDS.pick, COMMANDS.names())


def _register(command: str, app: typer.Typer) -> None:
    module, function = _HOME[command].split(":")
    app.command(name=command, context_settings=_SETTINGS.get(command))(
        getattr(importlib.import_module(f"uavsim.cli.{module}"), function)
    )


def _empty_app() -> typer.Typer:
    app = typer.Typer(
        name="uavsim",
        help="YAML in, labelled multi-drone datasets out.",
        epilog=epilog_of(""),
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
    )
    app.callback()(_options_of_all)  # keeps a single command a sub-command, too
    return app


def _options_of_all(
    *,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_say_version, help="Print the version and end.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", is_eager=True, callback=_hush, help=_QUIET_HELP)] = False,
) -> None:
    """YAML in, labelled multi-drone datasets out."""


def _nothing() -> None:
    """Stand for a command in the overview."""


def with_quiet(app: typer.Typer) -> TyperGroup:
    """Return the command line with ``--quiet`` at every command; what passes its options on has its own."""
    alone = typer.Typer(add_completion=False)
    alone.command()(_quiet)
    option = get_command(alone).params[0]
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    for command in group.commands.values():
        if not command.ignore_unknown_options:
            command.params.append(option)
    return group


def _quiet(
    *,
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet",
            "-q",
            is_eager=True,
            expose_value=False,
            callback=_hush,
            help=_QUIET_HELP,
        ),
    ] = False,
) -> None:
    """Carry the option."""


def main(*, take_signals: bool = False) -> None:
    """Run the command line; whatever goes wrong becomes one line on stderr and its exit code.

    Args:
        take_signals: this process is the command's alone, so that SIGINT, SIGTERM and SIGHUP are its to handle.
    """
    stop = StopSignals()
    try:
        if take_signals:
            stop.install()
        code = _prepared_and_run(stop)
    except (KeyboardInterrupt, typer.Abort):
        code = _interrupted()
    code = _flushed(code)
    if take_signals:
        stop.end_with(code)
    sys.exit(code)


def _flushed(code: int) -> int:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_stdout()  # whoever read it has seen enough
    except OSError as error:
        _drop_stdout()
        return _say(f"what was printed is lost: standard output: {error.strerror}", code=3)
    return code


def _prepared_and_run(stop: StopSignals) -> int:
    open_standard_streams()
    keep_local_direct()
    name_the_user()
    os.environ.setdefault("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
    return _run(stop)


def _run(stop: StopSignals) -> int:
    try:
        command = _typed_command()
        known = command in _HELP or command in COMMANDS.names()
        app = build_app(command) if known else build_overview()
        result = with_quiet(app)(sys.argv[1:] or ["--help"], standalone_mode=False)
    except typer.Exit as end:
        stop.raise_if_asked(end)
        return end.exit_code
    except SystemExit as end:
        cause = end.__context__
        if (
            isinstance(cause, OSError) and cause.errno == errno.EPIPE
        ):  # typer ends so when the output's reader went away
            sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
            return 0
        if package_behind(end) is not None:
            return _unexpected(end)
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except TyperException as error:  # what was typed is no command of ours
        return _say(
            f"{error.format_message()} (`uavsim --help` lists the commands, `uavsim COMMAND --help` their options)",
            code=2,
        )
    except UavsimError as error:
        stop.raise_if_asked(error)
        if os.environ.get("UAVSIM_TRACEBACK"):
            traceback.print_exception(error)
        said = (error.every if isinstance(error, ConfigError) else ()) or (str(error),)
        return max(_say(text, code=error.exit_code) for text in said)
    except (typer.Abort, KeyboardInterrupt):  # the end of the input, where something is asked, or Ctrl-C
        raise
    except BaseException as error:  # noqa: BLE001 - the last door: nothing behind it could say the user anything
        stop.raise_if_asked(error)
        return _unexpected(error)
    if result == INTERRUPTED:  # typer's way of saying so
        raise KeyboardInterrupt
    return result if isinstance(result, int) else 0


def _typed_command() -> str | None:
    """Return the first word after ``uavsim`` that is no option; a shell that wants completions has it in the environment."""
    words = sys.argv
    if "_UAVSIM_COMPLETE" in os.environ:
        words = (os.environ.get("_TYPER_COMPLETE_ARGS") or os.environ.get("COMP_WORDS", "")).split()
    return next((word for word in words[1:] if not word.startswith("-")), None)


def _interrupted() -> int:
    """Say how to continue: the exact command, where one continues."""
    from uavsim.store.journal import redact

    again = redact(f"{own_command()} {shlex.join(sys.argv[1:])}")
    if _typed_command() in _CONTINUED:
        return _say(f"interrupted; the scenes that are committed stay. Continue with: {again}", code=INTERRUPTED)
    return _say(f"interrupted; nothing goes on. Begin anew with: {again}", code=INTERRUPTED)


def _unexpected(error: BaseException) -> int:
    """Report what nobody raised on purpose: the machine's refusals, mistakes of plug-ins, and everything else as ours."""
    if os.environ.get("UAVSIM_TRACEBACK"):
        traceback.print_exception(error)
    if isinstance(error, RuntimeError) and _NO_THREAD in str(error):
        error = OSError(errno.EAGAIN, _NO_THREAD)
    if isinstance(error, (OSError, MemoryError)):
        where = f" ({error.filename})" if isinstance(error, OSError) and error.filename else ""
        again = None if _typed_command() in _CONTINUED else AGAIN
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error) or "out of memory"
        return _say(f"this machine: {reason}{where}; {remedy_of(error, again=again)}", code=3)
    frames = traceback.extract_tb(error.__traceback__)
    package = package_behind(error)
    if package is not None:
        said = " ".join(str(error).split())[:300]
        where = f"{frames[-1].filename}:{frames[-1].lineno}"
        return _say(f"the package {package} raised {type(error).__name__}: {said} at {where}; report it there", code=2)
    where = next((f"{f.filename}:{f.lineno}" for f in reversed(frames) if "uavsim" in f.filename), "?")
    said = " ".join(str(error).split())[:300]
    return _say(
        f"this is a mistake of uavsim, report it: {type(error).__name__}: {said} at {where} (UAVSIM_TRACEBACK=1 says more)",
        code=1,
    )


def _say(text: str, *, code: int) -> int:
    Screen(stderr=True, errors=True).print(line(("bold red", "error: "), text))
    return code


def _drop_stdout() -> None:
    """Let the interpreter's own flush at the end go nowhere: it would print and change the exit code."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)
