"""The environment of a process: proxies, user, limits, folders and commands."""

import importlib.metadata
import importlib.util
import os
import pwd
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from uavsim.errors import SystemFailure

DISTRIBUTION: Final = "uavsim-datagen"  # as uavsim.__distribution__

_LOCAL: Final = ("127.0.0.1", "localhost", "::1")
_FILES_WANTED: Final = 4096
_FILES_NEEDED: Final = 128
_WHERE_PROFILES_ARE: Final = {"PREFECT_HOME", "PREFECT_PROFILE", "PREFECT_PROFILES_PATH", "PREFECT_ACTIVE_PROFILE"}


def keep_local_direct() -> None:
    """Exempt this machine's own addresses from proxies, for this process and its children."""
    for name in ("no_proxy", "NO_PROXY"):
        reported = [part.strip() for part in os.environ.get(name, "").split(",") if part.strip()]
        if "*" not in reported:
            os.environ[name] = ",".join([*reported, *(address for address in _LOCAL if address not in reported)])
    for name in ("all_proxy", "ALL_PROXY"):  # a kind that HTTP clients refuse even for local addresses
        if not os.environ.get(name, "http:").startswith(("http:", "https:")):
            del os.environ[name]


def name_the_user() -> None:
    """Set home and name of a user id without a passwd entry, as in containers; libraries need both."""
    try:
        home = Path.home()
    except RuntimeError:
        home = Path("/nonexistent")
    if not home.is_dir() or not os.access(home, os.W_OK):
        os.environ["HOME"] = tempfile.gettempdir() if "HOME" not in os.environ else os.environ["HOME"]
    try:
        pwd.getpwuid(os.getuid())
    except KeyError:
        os.environ.setdefault("LOGNAME", f"uid{os.getuid()}")


def open_file_limit() -> None:
    """Raise the soft limit of open files to the number that a run with simulators needs.

    Raises:
        SystemFailure: the host's hard limit is too low for a run.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _FILES_WANTED if hard == resource.RLIM_INFINITY else min(_FILES_WANTED, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        soft = most
    if soft != resource.RLIM_INFINITY and soft < _FILES_NEEDED:
        raise SystemFailure(
            f"this host allows a process {soft} open files, a run needs {_FILES_NEEDED}: raise the limit (ulimit -n 1024)"
        )


def cache_home() -> Path | None:
    """Return the folder of all the user's caches; None without a home."""
    named = os.environ.get("XDG_CACHE_HOME")
    if named and Path(named).is_absolute():
        return Path(named)
    try:
        home = Path.home()
    except RuntimeError:  # a user id without an entry, as containers have
        return None
    return home / ".cache" if home.is_dir() else None


def cache_folder() -> Path:
    """Return the user's cache folder for uavsim; without a home, one in the temporary folder."""
    home = cache_home()
    return home / "uavsim" if home is not None else Path(tempfile.gettempdir()) / f"uavsim-{os.getuid()}"


def data_folder() -> Path:
    """Return the user's data folder for uavsim; without a home, the cache folder."""
    named = os.environ.get("XDG_DATA_HOME")
    if named and Path(named).is_absolute():
        return Path(named) / "uavsim"
    home = cache_home()
    return Path.home() / ".local/share/uavsim" if home is not None else cache_folder()


def without_prefect() -> dict[str, str]:
    """Remove Prefect's variables from the environment except for the location of profiles; return the removed ones."""
    taken = {name: value for name, value in os.environ.items() if name.startswith("PREFECT_")}
    for name in taken.keys() - _WHERE_PROFILES_ARE:
        del os.environ[name]
    return taken


def python_command(module: str, *arguments: str, python: str = "") -> list[str]:
    """Return the command line that runs a module in a new interpreter, as for every Python child process.

    ``-P`` keeps the working folder out of the module search path: a ``typer.py`` or ``random.py`` that lies there is not
    imported. ``-I`` would do so too, but would also drop PYTHONPATH and the user's site-packages, where an installation
    may be.

    Args:
        module: the module to run (``-m``).
        arguments: arguments of the module.
        python: the interpreter, 3.11 or newer; empty: this one.
    """
    return [python or sys.executable, "-P", "-m", module, *arguments]


def own_command(name: str = "uavsim") -> str:
    """Return the shell word that starts a command of this environment.

    The word is the plain name if PATH finds it, else a path, relative to the current folder if possible: a clone's
    environment is not on PATH.

    Args:
        name: program of the environment, ``uavsim`` or ``python``.
    """
    program = Path(sys.executable).parent / name
    found = shutil.which(name)
    if not program.is_file() or (found is not None and Path(found).parent.samefile(program.parent)):
        return name
    try:
        current = Path.cwd()
    except OSError:  # removed
        current = program.parent
    below = program.is_relative_to(current) and program.parent != current
    return shlex.quote(str(program.relative_to(current) if below else program))


def replay_command(dataset: Path, *sensors: str) -> str:
    """Return the command that renders a dataset's recordings again with further sensors: ``depth``, ``lidar``."""
    out = dataset.with_name(f"{dataset.name}-{'-'.join(sensors)}")
    more = ",".join(f"+{sensor}" for sensor in sensors)
    return f"{own_command()} replay {shlex.join([str(dataset), '--out', str(out), '--sensors', more])}"


def install_line(extra: str) -> str:
    """Return the command that installs an extra into this environment; a checkout has its own script."""
    marked = (line.partition(";") for line in importlib.metadata.requires(DISTRIBUTION) or [])
    needed = [name.strip() for name, _, marker in marked if marker.strip() == f"extra == '{extra}'"]
    return setup_line() or f"{pip_install()} {shlex.join(needed)}"


def setup_line() -> str:
    """Return the command that completes the environment of a checkout; "" for another environment."""
    checkout = Path(__file__).parents[1]
    script = checkout / "scripts/setup"
    return f"{shlex.quote(str(script))} ours" if script.is_file() and Path(sys.prefix) == checkout / ".venv" else ""


def pip_install(python: str = "") -> str:
    """Return the install command up to the packages: with the environment's pip, with uv, or with ensurepip first.

    Args:
        python: an interpreter; empty: this one. uv's environments have no pip.
    """
    pip = f"{shlex.quote(python or sys.executable)} -m pip install"
    if _has_pip(python or sys.executable):
        return pip
    if shutil.which("uv"):
        return f"uv pip install --python {shlex.quote(python or sys.executable)}"
    return f"{pip.removesuffix('pip install')}ensurepip && {pip}"


def _has_pip(python: str) -> bool:
    if python == sys.executable:
        return importlib.util.find_spec("pip") is not None
    command = [python, "-P", "-c", "import pip"]
    return shutil.which(python) is None or subprocess.run(command, capture_output=True, check=False).returncode == 0
