"""Environments in which commands are run: what each changes for the process."""

import os
import resource
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Surrounding:
    """One environment.

    Attributes:
        env: added to the child's environment; None takes a variable out.
        before: run in the child before the command; gets the row's own folder, which is the working folder.
        prepare: run before the child starts.
        shell: redirections of the command.
        wrap: words before the command.
        codes: exit codes by command, where it is not 0.
        only: the commands that are run in it.
    """

    name: str
    env: dict[str, str | None] = field(default_factory=dict)
    before: Callable[[Path], object] = lambda work: None
    prepare: Callable[[Path], object] = lambda work: None
    shell: str = ""
    wrap: tuple[str, ...] = ()
    codes: Mapping[str, int] = field(default_factory=dict)
    only: tuple[str, ...] = ("status", "validate", "opv2v")


def _limit(which: int, value: int) -> Callable[[Path], None]:
    return lambda work: resource.setrlimit(which, (value, value))


def _modules(work: Path) -> None:
    for name in ("typer", "json", "random", "numpy", "yaml", "rich", "site", "sitecustomize"):
        (work / f"{name}.py").write_text(f"raise SystemExit('{name}.py of the current folder was imported')\n")


def _open_to_all(work: Path) -> None:
    work.parent.chmod(0o777)


def _deaf(work: Path) -> None:
    for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def _blocked(work: Path) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP})


def _startup(work: Path) -> None:
    (work / "startup.py").write_text("raise SystemExit('PYTHONSTARTUP was run')\n")
    (work / "pyproject.toml").write_text("[tool.prefect]\nlogging = {level = 'chatty'}\n")
    (work / "prefect.toml").write_text("[server.database]\nconnection_url = 'sqlite:////dev/null'\n")
    (work / ".env").write_text("PREFECT_API_URL=http://10.255.255.1:9\n")


def _loop_home(work: Path) -> None:
    (work / "home").symlink_to("home")


_CLOSED = any(not folder.stat().st_mode & 0o001 for folder in Path(sys.executable).resolve().parents)
_READS = [
    f"--{which}={'-all,' * (which == 'bounding-set')}+dac_read_search"
    for which in ("bounding-set", "inh-caps", "ambient-caps")
]
_NOBODY = (  # who has no name, no rights and no other processes; may read this interpreter, where that is root's alone
    ("setpriv", "--reuid=54321", "--regid=54321", "--clear-groups", *(_READS if _CLOSED else ()))
    if os.geteuid() == 0
    else ()
)
_TWO = ("status", "opv2v")
_WITH_RUN = ("status", "validate", "opv2v", "generate")
_FULL = (  # a file system of its own, of which there is nothing left
    "unshare", "-rm", "bash", "-c",
    'mkdir t && mount -t tmpfs -o size=16k none t && export TMPDIR="$PWD/t" && head -c 16k /dev/zero > t/x; exec "$@"', "-",
)  # fmt: skip
SURROUNDINGS = (
    Surrounding("plain", only=_WITH_RUN),
    Surrounding(
        "proxy",
        env={"http_proxy": "http://10.255.255.1:9", "https_proxy": "http://10.255.255.1:9", "ALL_PROXY": "x://y"},
        only=_WITH_RUN,
    ),
    Surrounding(
        "prefect's variables",
        env={"PREFECT_LOGGING_LEVEL": "chatty", "PREFECT_API_AUTH_STRING": "x", "PREFECT_HOME": "/dev/null"},
        only=_WITH_RUN,
    ),
    Surrounding("modules in the current folder", prepare=_modules, only=_WITH_RUN),
    Surrounding("descriptors closed", shell="<&- >&- 2>&-"),
    Surrounding("reader gone", shell="| head -c 0", only=_WITH_RUN),
    Surrounding("full output", shell="> /dev/full", codes={"status": 3}),
    Surrounding("40 open files", before=_limit(resource.RLIMIT_NOFILE, 40), codes={"generate": 3}, only=_WITH_RUN),
    Surrounding(
        "nobody without a home",
        env={"HOME": None, "USER": None, "LOGNAME": None},
        prepare=_open_to_all,
        wrap=_NOBODY,
        only=_WITH_RUN,
    ),
    Surrounding(
        "nobody, at home in /",
        env={"HOME": "/", "USER": None, "LOGNAME": None},
        prepare=_open_to_all,
        wrap=_NOBODY,
        only=("status", "opv2v", "generate"),
    ),
    Surrounding("no temporary folder", env={"TMPDIR": "/nonexistent"}, only=_WITH_RUN),
    Surrounding("temporary folder full", wrap=_FULL, only=_WITH_RUN),
    Surrounding("home is a file", env={"HOME": "home"}, prepare=lambda work: (work / "home").write_text("a file")),
    Surrounding("ascii only", env={"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}),
    Surrounding("one column", env={"COLUMNS": "1", "LINES": "1", "TERM": "dumb"}),
    Surrounding("colours forced", env={"FORCE_COLOR": "1", "TERM": "xterm-256color"}),
    Surrounding("umask 0777", before=lambda work: os.umask(0o777), codes={} if os.geteuid() == 0 else {"opv2v": 3}),
    Surrounding(
        "no file may grow",
        before=_limit(resource.RLIMIT_FSIZE, 0),
        codes={"opv2v": 3, "generate": 3, "publish": 3, "events": 3, "video": 3},
        only=("status", "validate", "opv2v", "generate", "publish", "events", "video"),
    ),
    Surrounding("no core, small stack", before=_limit(resource.RLIMIT_STACK, 1 << 20)),
    Surrounding("python optimised", env={"PYTHONOPTIMIZE": "2", "PYTHONDONTWRITEBYTECODE": "1"}),
    Surrounding("endless input", shell="< /dev/zero"),
    Surrounding("cache is a file", env={"XDG_CACHE_HOME": "/dev/null"}),
    Surrounding("huge environment", env={f"FILLER_{k}": "x" * 100_000 for k in range(10)}),
    Surrounding("warnings are errors", env={"PYTHONWARNINGS": "error"}, only=_TWO),
    Surrounding("60 processes", before=_limit(resource.RLIMIT_NPROC, 60), prepare=_open_to_all, wrap=_NOBODY),
    Surrounding(
        "python optimised, warnings are errors",  # machine code of such an interpreter is another one: compiled once
        env={"PYTHONOPTIMIZE": "2", "PYTHONWARNINGS": "error"},
        only=_WITH_RUN,
    ),
    Surrounding("development mode", env={"PYTHONDEVMODE": "1", "PYTHONHASHSEED": "1"}, only=_TWO),
    Surrounding("no path", env={"PATH": ""}, only=_TWO),
    Surrounding("working folder removed", before=lambda work: work.rmdir(), only=_TWO),
    Surrounding("signals ignored", before=_deaf, only=_TWO),
    Surrounding("signals blocked", before=_blocked, only=_TWO),
    Surrounding("settings in the current folder", prepare=_startup, env={"PYTHONSTARTUP": "startup.py"}, only=_TWO),
    Surrounding("home links to itself", env={"HOME": "home"}, prepare=_loop_home, only=_TWO),
    Surrounding("relative cache", env={"XDG_CACHE_HOME": "cache", "XDG_CONFIG_HOME": "."}, only=_TWO),
    Surrounding("temporary folder read-only", env={"TMPDIR": "/proc", "TEMP": "/proc"}, only=_TWO),
    Surrounding("odd columns", env={"COLUMNS": "many", "LINES": "-1", "NO_COLOR": ""}, only=_TWO),
    Surrounding("odd time zone", env={"TZ": ":/etc/passwd"}, only=_TWO),
    Surrounding("unknown language", env={"LC_ALL": "xx_YY.nothing", "LANGUAGE": "\udcff"}, only=_TWO),
    Surrounding("4 GB of memory", before=_limit(resource.RLIMIT_AS, 4 << 30), only=_TWO),
    Surrounding("credentials in the proxy", env={"https_proxy": "http://KEY:SEC/RET@10.255.255.1:9"}, only=_TWO),
    Surrounding("nearly nothing set", env=dict.fromkeys(os.environ, None), only=_TWO),
    Surrounding("twice at once", shell="TWICE", only=_TWO),
)
