"""The command line: one module per job; an expected error is one line and an exit code.

Exit codes: 0 success, 1 bug in uavsim, 2 bad input, 3 simulator or system, 4 invalid dataset, 130 interrupted.
"""

import errno
import importlib.metadata
import os
import re
import shlex
import sys
import traceback
from collections.abc import Callable
from typing import Annotated, Final

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException
from typer.main import get_command

from uavsim.cli.commands import COMMANDS, OVERVIEW, Command
from uavsim.cli.stop import INTERRUPTED, StopSignals
from uavsim.environment import DISTRIBUTION, keep_local_direct, name_the_user, own_command
from uavsim.errors import ConfigError, InputError, UavsimError
from uavsim.escape import visible
from uavsim.files.whole import AGAIN, remedy_of
from uavsim.registry import NO_MEMORY, Named, package_behind
from uavsim.terminal import Screen, be_quiet, line, open_standard_streams

__all__ = ["COMMANDS", "build_app", "build_overview", "main", "with_quiet"]

_AFTER_CLAUSE: Final = re.compile(r"[:;]| \(|\.( |$)")
_CONTINUED: Final = ("generate", "regenerate")
_NO_THREAD: Final = "can't start new thread"  # the interpreter's message at a limit of the host
_GROUPS: Final = ("Make", "Look", "Check", "Label", "Share", "Simulate")
_QUIET_HELP: Final = "Print only errors and --json output."


def _set_quiet(enabled: bool) -> None:
    if enabled:
        be_quiet()


def _print_version(requested: bool) -> None:
    if requested:
        typer.echo(f"uavsim {importlib.metadata.version(DISTRIBUTION)}")
        raise typer.Exit


def build_app(command: str | None = None) -> typer.Typer:
    """Return the app with one command, or with all by default."""
    app = _empty_app()
    for name in COMMANDS.names() if command is None else (command,):
        chosen = COMMANDS.pick(name)
        function: Callable[..., object] = Named(chosen.function).load()
        settings = chosen.settings or None
        app.command(name=name, help=chosen.help, epilog=chosen.epilog, context_settings=settings)(function)
    return app


def build_overview() -> typer.Typer:
    """Return the app with the name and help of every command, without importing their functions."""
    app = _empty_app()
    grouped = sorted(COMMANDS.names(), key=lambda name: _group_order(_command_or_reason(name).group))
    for name in grouped:
        chosen = _command_or_reason(name)
        short = _AFTER_CLAUSE.split(chosen.help)[0]
        panel = visible(chosen.group)
        app.command(name=visible(name), help=chosen.help, short_help=visible(short), rich_help_panel=panel)(_nothing)
    return app


def _command_or_reason(name: str) -> Command:
    """Return a command; for a plug-in that does not load, show the reason as its help."""
    try:
        return COMMANDS.pick(name)
    except InputError as error:
        return Command("Not loadable", "", str(error))


def _group_order(group: str) -> int:
    return _GROUPS.index(group) if group in _GROUPS else len(_GROUPS)


def _empty_app() -> typer.Typer:
    app = typer.Typer(
        name="uavsim",
        help=OVERVIEW.help,
        epilog=OVERVIEW.epilog,
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
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and exit.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", is_eager=True, callback=_set_quiet, help=_QUIET_HELP)] = False,
) -> None:
    """YAML in, labelled multi-drone datasets out."""


def _nothing() -> None:
    """Placeholder for a command in the overview."""


def with_quiet(app: typer.Typer) -> TyperGroup:
    """Add ``--quiet`` to every command, except commands that forward unknown options."""
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
            callback=_set_quiet,
            help=_QUIET_HELP,
        ),
    ] = False,
) -> None:
    """Hold the option."""


def main(*, take_signals: bool = False) -> None:
    """Run the command line; every error becomes one line on stderr and an exit code.

    Args:
        take_signals: handle SIGINT, SIGTERM and SIGHUP, in a process that runs only this command.
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
        _drop_stdout()  # the reader closed the pipe
    except (OSError, ValueError) as error:  # ValueError: a plug-in has closed it
        _drop_stdout()
        reason = error.strerror if isinstance(error, OSError) else "is closed"
        return _print_error(f"cannot write to standard output: {reason}", code=3)
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
        app = build_app(command) if command in COMMANDS.names() else build_overview()
        result = with_quiet(app)(sys.argv[1:] or ["--help"], standalone_mode=False)
    except typer.Exit as end:
        stop.raise_if_signalled(end)
        return end.exit_code
    except SystemExit as end:
        cause = end.__context__
        if (
            isinstance(cause, OSError) and cause.errno == errno.EPIPE
        ):  # typer's exit when the reader of the output is gone
            sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
            return 0
        if package_behind(end) is not None:
            return _unexpected(end)
        return end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except TyperException as error:  # an unknown command
        return _print_error(
            f"{error.format_message()} (`uavsim --help` lists the commands; uavsim-benchmarks and other packages add theirs)",
            code=2,
        )
    except UavsimError as error:
        stop.raise_if_signalled(error)
        if os.environ.get("UAVSIM_TRACEBACK"):
            traceback.print_exception(error)
        messages = (error.every if isinstance(error, ConfigError) else ()) or (str(error),)
        return max(_print_error(text, code=error.exit_code) for text in messages)
    except (typer.Abort, KeyboardInterrupt):  # end of input at a prompt, or Ctrl-C
        raise
    except BaseException as error:  # noqa: BLE001 - the last handler: it reports any other error
        stop.raise_if_signalled(error)
        return _unexpected(error)
    if result == INTERRUPTED:  # typer's result of an interrupt
        if stop.is_unsignalled:
            return _print_error(
                "an installed package raised KeyboardInterrupt without a signal; report it to its authors", code=2
            )
        raise KeyboardInterrupt
    return result if isinstance(result, int) else 0


def _typed_command() -> str | None:
    """Return the command among the words after ``uavsim``, or in the environment when a shell asks for completions."""
    words = sys.argv
    if "_UAVSIM_COMPLETE" in os.environ:
        words = (os.environ.get("_TYPER_COMPLETE_ARGS") or os.environ.get("COMP_WORDS", "")).split()
    return next((word for word in words[1:] if not word.startswith("-")), None)


def _interrupted() -> int:
    """Print the interruption, with the exact command to continue if the command can."""
    from uavsim.store.journal import redact

    again = redact(f"{own_command()} {shlex.join(sys.argv[1:])}")
    if _typed_command() in _CONTINUED:
        return _print_error(
            f"interrupted; the scenes that are committed stay. Continue with: {again}", code=INTERRUPTED
        )
    return _print_error(f"interrupted. Start again with: {again}", code=INTERRUPTED)


def _unexpected(error: BaseException) -> int:
    """Report an unexpected error: a limit of the machine, a bug in a plug-in, or else a bug in uavsim."""
    if os.environ.get("UAVSIM_TRACEBACK"):
        traceback.print_exception(error)
    if isinstance(error, RuntimeError) and _NO_THREAD in str(error):
        error = OSError(errno.EAGAIN, _NO_THREAD)
    if isinstance(error, ImportError) and NO_MEMORY in str(error):
        error = MemoryError()
    if isinstance(error, (OSError, MemoryError)):
        where = f" ({error.filename})" if isinstance(error, OSError) and error.filename else ""
        again = None if _typed_command() in _CONTINUED else AGAIN
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error) or "out of memory"
        return _print_error(f"this machine: {reason}{where}; {remedy_of(error, again=again)}", code=3)
    frames = traceback.extract_tb(error.__traceback__)
    package = package_behind(error)
    if package is not None:
        message = " ".join(str(error).split())[:300]
        where = f"{frames[-1].filename}:{frames[-1].lineno}"
        return _print_error(
            f"the package {package} raised {type(error).__name__}: {message} at {where}; report it to its authors",
            code=2,
        )
    where = next((f"{f.filename}:{f.lineno}" for f in reversed(frames) if "uavsim" in f.filename), "?")
    message = " ".join(str(error).split())[:300]
    return _print_error(
        f"this is a bug in uavsim, report it: {type(error).__name__}: {message} at {where} "
        "(UAVSIM_TRACEBACK=1 prints the traceback)",
        code=1,
    )


def _print_error(text: str, *, code: int) -> int:
    Screen(stderr=True, errors=True).print(line(("bold red", "error: "), text))
    return code


def _drop_stdout() -> None:
    """Redirect stdout to /dev/null, so that the interpreter's final flush neither prints nor changes the exit code."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)
