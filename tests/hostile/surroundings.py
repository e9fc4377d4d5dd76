"""Hostile process environments, dataset names and result paths."""

import os
import resource
import signal
import socket
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

_READING = ("status", "validate", "opv2v")
_TWO = ("status", "opv2v")
_WITH_RUN = ("status", "validate", "opv2v", "generate")


@dataclass(frozen=True)
class Surrounding:
    """One process environment.

    Attributes:
        only: the commands that run in it.
        env: variables added to the child's environment; None removes a variable.
        before: run in the child before the command; gets the working folder of the row.
        prepare: run before the child starts; gets the same folder.
        shell: redirections of the command.
        wrap: words before the command.
        codes: exit codes by command, where not 0.
    """

    name: str
    only: tuple[str, ...] = _READING
    env: Mapping[str, str | None] = field(default_factory=dict)
    before: Callable[[Path], object] = lambda work: None
    prepare: Callable[[Path], object] = lambda work: None
    shell: str = ""
    wrap: tuple[str, ...] = ()
    codes: Mapping[str, int] = field(default_factory=dict)


def _limit(which: int, value: int) -> Callable[[Path], None]:
    return lambda work: resource.setrlimit(which, (value, value))


def _files(texts: Mapping[str, str]) -> Callable[[Path], None]:
    """Write files into the working folder."""

    def write(work: Path) -> None:
        for name, text in texts.items():
            (work / name).write_text(text)

    return write


def _open_to_all(work: Path) -> None:
    work.parent.chmod(0o777)


def _ignore_signals(work: Path) -> None:
    for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def _block_signals(work: Path) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP})


_DEAD_PROXY = "http://10.255.255.1:9"
_NAMELESS = {"USER": None, "LOGNAME": None}
_MODULES = ("typer", "json", "random", "numpy", "yaml", "rich", "site", "sitecustomize")
_SHADOWS = {f"{name}.py": f"raise SystemExit('{name}.py of the current folder was imported')\n" for name in _MODULES}
_SETTINGS = {
    "startup.py": "raise SystemExit('PYTHONSTARTUP was run')\n",
    "pyproject.toml": "[tool.prefect]\nlogging = {level = 'chatty'}\n",
    "prefect.toml": "[server.database]\nconnection_url = 'sqlite:////dev/null'\n",
    ".env": f"PREFECT_API_URL={_DEAD_PROXY}\n",
}
_ROOT = os.geteuid() == 0
_UNREADABLE_PYTHON = any(not folder.stat().st_mode & 0o001 for folder in Path(sys.executable).resolve().parents)
_READ_ALL = (
    "--bounding-set=-all,+dac_read_search",
    "--inh-caps=+dac_read_search",
    "--ambient-caps=+dac_read_search",
)
_BARE_USER = (  # a user without a name, rights and processes, who may read this interpreter where only root may
    ("setpriv", "--reuid=54321", "--regid=54321", "--clear-groups", *(_READ_ALL if _UNREADABLE_PYTHON else ()))
    if _ROOT
    else ()
)
_FULL = (  # a file system of its own without free space
    "unshare", "-rm", "bash", "-c",
    'mkdir t && mount -t tmpfs -o size=16k none t && export TMPDIR="$PWD/t" && head -c 16k /dev/zero > t/x; exec "$@"', "-",
)  # fmt: skip
_WRITING = ("opv2v", "generate", "publish", "events", "video")
SURROUNDINGS = (
    Surrounding("plain", _WITH_RUN),
    Surrounding("proxy", _WITH_RUN, {"http_proxy": _DEAD_PROXY, "https_proxy": _DEAD_PROXY, "ALL_PROXY": "x://y"}),
    Surrounding(
        "prefect's variables",
        _WITH_RUN,
        {"PREFECT_LOGGING_LEVEL": "chatty", "PREFECT_API_AUTH_STRING": "x", "PREFECT_HOME": "/dev/null"},
    ),
    Surrounding("modules in the current folder", _WITH_RUN, prepare=_files(_SHADOWS)),
    Surrounding("descriptors closed", shell="<&- >&- 2>&-"),
    Surrounding("reader gone", _WITH_RUN, shell="| head -c 0"),
    Surrounding("full output", shell="> /dev/full", codes={"status": 3}),
    Surrounding("40 open files", _WITH_RUN, before=_limit(resource.RLIMIT_NOFILE, 40), codes={"generate": 3}),
    Surrounding("user without a home", _WITH_RUN, _NAMELESS | {"HOME": None}, prepare=_open_to_all, wrap=_BARE_USER),
    Surrounding(
        "user at home in /", (*_TWO, "generate"), _NAMELESS | {"HOME": "/"}, prepare=_open_to_all, wrap=_BARE_USER
    ),
    Surrounding("no temporary folder", _WITH_RUN, {"TMPDIR": "/nonexistent"}),
    Surrounding("temporary folder full", _WITH_RUN, wrap=_FULL),
    Surrounding("home is a file", env={"HOME": "home"}, prepare=_files({"home": "a file"})),
    Surrounding("ascii only", env={"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}),
    Surrounding("one column", env={"COLUMNS": "1", "LINES": "1", "TERM": "dumb"}),
    Surrounding("colours forced", env={"FORCE_COLOR": "1", "TERM": "xterm-256color"}),
    Surrounding("umask 0777", before=lambda work: os.umask(0o777), codes={} if _ROOT else {"opv2v": 3}),
    Surrounding(
        "no file may grow",
        ("status", "validate", *_WRITING),
        before=_limit(resource.RLIMIT_FSIZE, 0),
        codes=dict.fromkeys(_WRITING, 3),
    ),
    Surrounding("no core, small stack", before=_limit(resource.RLIMIT_STACK, 1 << 20)),
    Surrounding("python optimised", env={"PYTHONOPTIMIZE": "2", "PYTHONDONTWRITEBYTECODE": "1"}),
    Surrounding("endless input", shell="< /dev/zero"),
    Surrounding("cache is a file", env={"XDG_CACHE_HOME": "/dev/null"}),
    Surrounding("huge environment", env={f"FILLER_{k}": "x" * 100_000 for k in range(10)}),
    Surrounding("warnings are errors", _TWO, {"PYTHONWARNINGS": "error"}),
    Surrounding("60 processes", before=_limit(resource.RLIMIT_NPROC, 60), prepare=_open_to_all, wrap=_BARE_USER),
    # Machine code of such an interpreter is not in the cache, so that it is compiled once:
    Surrounding("python optimised, warnings are errors", _WITH_RUN, {"PYTHONOPTIMIZE": "2", "PYTHONWARNINGS": "error"}),
    Surrounding("development mode", _TWO, {"PYTHONDEVMODE": "1", "PYTHONHASHSEED": "1"}),
    Surrounding("no path", _TWO, {"PATH": ""}),
    Surrounding("working folder removed", _TWO, before=lambda work: work.rmdir()),
    Surrounding("signals ignored", _TWO, before=_ignore_signals),
    Surrounding("signals blocked", _TWO, before=_block_signals),
    Surrounding("settings in the current folder", _TWO, {"PYTHONSTARTUP": "startup.py"}, prepare=_files(_SETTINGS)),
    Surrounding(
        "home links to itself", _TWO, {"HOME": "home"}, prepare=lambda work: (work / "home").symlink_to("home")
    ),
    Surrounding("relative cache", _TWO, {"XDG_CACHE_HOME": "cache", "XDG_CONFIG_HOME": "."}),
    Surrounding("temporary folder read-only", _TWO, {"TMPDIR": "/proc", "TEMP": "/proc"}),
    Surrounding("odd columns", _TWO, {"COLUMNS": "many", "LINES": "-1", "NO_COLOR": ""}),
    Surrounding("odd time zone", _TWO, {"TZ": ":/etc/passwd"}),
    Surrounding("unknown language", _TWO, {"LC_ALL": "xx_YY.nothing", "LANGUAGE": "\udcff"}),
    Surrounding("4 GB of memory", _TWO, before=_limit(resource.RLIMIT_AS, 4 << 30)),
    Surrounding("credentials in the proxy", _TWO, {"https_proxy": "http://KEY:SEC/RET@10.255.255.1:9"}),
    Surrounding("nearly nothing set", _TWO, dict.fromkeys(os.environ, None)),
    Surrounding("twice at once", _TWO, shell="TWICE"),
)

NAMES: dict[str, str] = {  # kind -> name of the dataset's folder
    "blanks and quotes": "my 'data' \"set\" $HOME `id` ;&",
    "line feed": "two\nlines",
    "no UTF-8": os.fsdecode(b"set\xff\xfe"),
    "markup": "[bold]set[red]",
    "escape": "\x1b[31mset",
    "200 letters": "x" * 200,
    "address": "s3:",
    "percent and hash": "%s%d#?a=b",
    "right to left": "\u202etes",
}


@dataclass(frozen=True, slots=True)
class Out:
    """One occupied result path.

    Attributes:
        make: occupies the path; gets it and the dataset's folder.
        code: exit code of an export.
        run: exit code of a run; None where no run is tried.
        name: the result path, below the row's folder.
        home: the path is the user's home.
    """

    make: Callable[[Path, Path], object]
    code: int
    run: int | None = None
    name: str = "out"
    home: bool = False


def _socket(path: Path, _: Path) -> None:
    before = Path.cwd()
    os.chdir(path.parent)  # the name of a socket may have a hundred bytes
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(before)


def _link_to_folder(path: Path, root: Path) -> None:
    (root.parent / "elsewhere").mkdir()
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(root.parent / "elsewhere")


def _foreign_files(*names: str) -> Callable[[Path, Path], None]:
    def make(path: Path, _: Path) -> None:
        for name in names:
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_text(f"foreign: {name}")

    return make


_HOME_FILES = (".bashrc", ".ssh/id_ed25519", "Documents/thesis.tex", "all/drone_0/label/scene_00_000000.txt.bak")
OUTS: dict[str, Out] = {
    "a file": Out(lambda path, _: path.write_text("foreign"), 2, run=2),
    "a pipe": Out(lambda path, _: os.mkfifo(path), 2, run=2),
    "a socket": Out(_socket, 2),
    "a link to nowhere": Out(lambda path, _: path.symlink_to("/nonexistent/x"), 2, run=2),
    "a link to itself": Out(lambda path, _: path.symlink_to(path.name), 2, run=2),
    "a link to a folder": Out(_link_to_folder, 0),  # the user named it, so new files may go there
    "a folder that holds a link to a folder": Out(lambda path, root: _link_to_folder(path / "all", root), 2, run=2),
    "a repository": Out(_foreign_files(".git/HEAD", ".git/config", "src/main.c"), 0, run=2),
    "the home": Out(_foreign_files(*_HOME_FILES), 0, run=2, home=True),
    "below a file": Out(lambda path, _: path.parent.write_text("foreign"), 2, run=2, name="file/out"),
    "inside the dataset": Out(lambda *_: None, 2, name="set/out"),
    "the dataset": Out(lambda *_: None, 2, run=2, name="set"),
    "a device": Out(lambda path, _: path.symlink_to("/dev/full"), 2, run=2),
    "in a folder of the system": Out(lambda *_: None, 3, run=3, name="/proc/uavsim"),
}
