"""The first start in an account compiles the kernels: in a process for each group, and with a word about how long it takes.

What is compiled is kept for the account (``kernel_cache``), or in ``NUMBA_CACHE_DIR``; a wheel may bring it along. A file
there, named after sources, numba and processor, says that a group is complete; without it the group is compiled before the
simulator begins. A folder that cannot be written, or a file that is wrong, costs time only: what is missing is compiled when
it is called.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Final

import llvmlite.binding  # type: ignore[import-untyped]
import numba
from numba.core import event

from headless_simulator.compile_groups import DONE, GROUPS
from headless_simulator.cores import leave_tick_core
from headless_simulator.kernel_cache import forget_unused, shipped_folders
from headless_simulator.render.resolve import resolve
from headless_simulator.terminal import note

_EVERY_S: Final = 5.0
_POLL_S: Final = 0.1
_KERNELS: Final = ("render", "world", "airsim", "carla/kernels")  # folders whose sources numba's cache depends on
_LATER_NICENESS: Final = 15
_aside: Final = threading.Lock()


class CompileAhead:
    """Compiles the groups that this machine lacks. Use as a context manager: what still runs at its end is ended.

    Args:
        groups: names of ``compile_groups.GROUPS``.
        say: takes a line for people.
    """

    def __init__(self, groups: Sequence[str], *, say: Callable[[str], None] = note) -> None:
        self._groups, self._say = tuple(groups), say
        self._began = time.monotonic()
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._counted: dict[str, int] = {}  # functions that are compiled, of what is not complete
        self._alone = contextlib.ExitStack()

    def __enter__(self) -> CompileAhead:
        if any(not _is_complete(group) for group in self._groups):
            self._alone.enter_context(_alone_on_this_machine(self._say))
            self._start([group for group in self._groups if not _is_complete(group)])  # another may just have done it
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._alone.close()

    def wait(self, *, stop: threading.Event | None = None) -> None:
        """Wait until every group is there, and say now and then how far it is; ends early with ``stop``."""
        said = time.monotonic()
        while self._process is not None and not (stop and stop.is_set()):
            if self._process.poll() is not None:
                self._finish()
            elif time.monotonic() - said >= _EVERY_S and self._counted:
                said = time.monotonic()
                self._say(self._state())
            time.sleep(_POLL_S)
        self._alone.close()

    def _start(self, groups: Sequence[str]) -> None:
        if not groups:
            return
        try:
            self._process = subprocess.Popen(
                _command(*groups), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        except OSError:  # no process to be had: the kernels are compiled when they are called
            return
        self._counted = dict.fromkeys(groups, 0)
        self._counts = threading.Thread(target=self._count, args=(groups, self._process.stdout), daemon=True)
        self._counts.start()
        self._say(f"the first start in this account compiles {' and '.join(groups)}, once: a minute or so")

    def _count(self, groups: Sequence[str], out: IO[bytes]) -> None:
        with out:
            while byte := out.read(1):
                group, done = groups[byte[0] % DONE], byte[0] >= DONE
                if done:
                    _note_complete(group)
                with self._lock:
                    if done:
                        del self._counted[group]
                    else:
                        self._counted[group] += 1

    def _finish(self) -> None:
        self._counts.join()  # it ends with the last process that may write
        self._process = None
        for group in self._counted:
            self._say(f"compiling {group} failed; it is compiled when it is called")

    def _state(self) -> str:
        seconds = time.monotonic() - self._began
        with self._lock:
            shares = {group: min(count / GROUPS[group][1], 0.97) for group, count in self._counted.items()}
        slowest = min(shares.values(), default=1.0)
        left = f", about {seconds * (1 - slowest) / slowest:.0f} s left" if slowest > 0.1 else ""
        parts = ", ".join(f"{group} {share:.0%}" for group, share in shares.items())
        return f"compiling, once in an account: {parts} after {seconds:.0f} s{left}"


def compile_aside(group: str, *, after_s: float = 0.0) -> None:
    """Compile a group that nobody waits for, after a while and with low priority; returns when it is on disk."""
    with _aside:
        if _is_complete(group):
            return
        time.sleep(after_s)
        leave_tick_core()  # its child runs where this thread does
        done = subprocess.run(
            _command(group, niceness=_LATER_NICENESS),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        if done.returncode == 0:
            _note_complete(group)


def _command(*groups: str, niceness: int = 0) -> list[str]:
    return [sys.executable, "-P", "-m", "headless_simulator.compile_groups", str(niceness), *groups]


class _Late(event.Listener):  # type: ignore[misc]
    def on_start(self, event: Any) -> None:
        """Say which function somebody has to wait for."""
        function = event.data["dispatcher"].py_func
        if function.__module__.startswith("headless_simulator."):
            note(f"compiling late, once in an account: {function.__module__.partition('.')[2]}.{function.__name__}")

    def on_end(self, event: object) -> None:
        """Nothing to say."""


def note_late_compilation() -> None:
    """Say of each function of ours that is compiled in this process from now on that it is."""
    event.register("numba:compile", _Late())


def _folder() -> Path | None:
    """Return where numba keeps compiled code; None where it compiles nothing."""
    stats = getattr(resolve, "stats", None)
    return Path(stats.cache_path) if stats is not None and stats.cache_path else None


def _mark(group: str) -> Path | None:
    folder = _folder()
    if folder is None:
        return None
    facts = [sys.version, numba.__version__, llvmlite.binding.get_host_cpu_name()]
    facts += [llvmlite.binding.get_host_cpu_features().flatten()]
    facts += [f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith("NUMBA_")]
    return folder / _name(group, *facts)


def _name(group: str, *facts: str) -> str:
    """Return the name of a group's mark, for the kernels' sources and what else machine code depends on."""
    root = Path(__file__).parent
    sources = [(path, path.stat()) for name in _KERNELS for path in sorted((root / name).rglob("*.py"))]
    facts = (*(f"{path.relative_to(root)} {_digest(path, stat.st_mtime_ns)}" for path, stat in sources), *facts)
    return f"compiled-{group}-{hashlib.sha256(chr(10).join(facts).encode()).hexdigest()[:16]}"


def mark_shipped(folder: Path) -> None:
    """Note in a folder for a wheel (``kernel_cache.shipped_folder``) that it has the machine code of all groups."""
    for group in GROUPS:
        (folder / _name(group)).touch()


@functools.cache
def _digest(source: Path, mtime_ns: int) -> str:
    """Return the digest of a source as it is at a time: one that was only written again needs no compiling."""
    del mtime_ns
    return hashlib.sha256(source.read_bytes()).hexdigest()


def _is_complete(group: str) -> bool:
    if any((folder / _name(group)).exists() for folder in shipped_folders().values()):
        return True
    mark = _mark(group)
    return mark is None or mark.exists() or not os.access(mark.parent.parent, os.W_OK)


def _note_complete(group: str) -> None:
    mark = _mark(group)
    if mark is not None:
        with contextlib.suppress(OSError):
            mark.parent.mkdir(parents=True, exist_ok=True)
            mark.touch()
            forget_unused()


@contextlib.contextmanager
def _alone_on_this_machine(say: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock of the folder: a second simulator waits for the first one's code instead of compiling the same."""
    folder = _folder()
    try:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            lock = (folder / "compiled.lock").open("wb")
    except OSError:
        folder = None
    if folder is None:
        yield
        return
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            say("another process compiles the simulator's code on this machine; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
