"""Build a town in a separate process: the server answers other clients meanwhile, and time and memory are bounded.

The process reads one line of JSON (name, seed, whether an OpenDRIVE text follows) and that text, and writes ``T`` and the
town's bytes, or ``E`` and an error message.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, BinaryIO, Final

from headless_simulator.scene import Town
from headless_simulator.towns import cache
from headless_simulator.towns.errors import TownRefused
from headless_simulator.towns.limits import CLIENT, OPERATOR, Limits
from headless_simulator.towns.load import load_opendrive, load_town

_WALL_FACTOR: Final = 3  # of CPU time, because other processes share the processor
_at_once: Final = threading.BoundedSemaphore(2)


def build_apart(name: str, *, seed: int, opendrive: bytes | None = None, trusted: bool = False) -> Town:
    """Build a town in another process.

    Args:
        name: name of a built-in town, or of the new town.
        seed: random seed.
        opendrive: the text; None for a built-in town.
        trusted: the text is the operator's file, which may be large.

    Raises:
        TownRefused: the town cannot be built; the message is one line.
    """
    limits = OPERATOR if trusted else CLIENT
    not_made = f"{name}: it takes more than {limits.cpu_s} s or {limits.memory_bytes >> 30} GiB to build"
    facts = {"name": name, "seed": seed, "opendrive": opendrive is not None, "trusted": trusted}
    order = json.dumps(facts).encode() + b"\n"
    command = [sys.executable, "-P", "-m", "headless_simulator.towns.apart"]
    with _at_once, tempfile.TemporaryFile() as output:  # a file: a pipe would have to be read beside the wait
        try:
            process = subprocess.run(
                command, input=order + (opendrive or b""), stdout=output, stderr=subprocess.DEVNULL,
                timeout=_WALL_FACTOR * limits.cpu_s, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise TownRefused(not_made) from None
        except OSError as error:
            raise TownRefused(f"{name}: no process could be started to build it: {error.strerror}") from error
        output.seek(0)
        answer = output.read()
    if process.returncode != 0 or answer[:1] not in (b"T", b"E"):
        raise TownRefused(not_made)
    if answer[:1] == b"E":
        raise TownRefused(answer[1:].decode("utf-8", "replace"))
    return cache.decode(answer[1:])


def _build(order: dict[str, Any], source: BinaryIO, limits: Limits) -> Town:
    if not order["opendrive"]:
        return load_town(order["name"], seed=order["seed"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"{order['name']}.xodr")
        path.write_bytes(source.read())
        return load_opendrive(path, seed=order["seed"], limits=limits)


def main() -> None:
    """Build one town, for ``build_apart``."""
    order = json.loads(sys.stdin.buffer.readline())
    limits = OPERATOR if order["trusted"] else CLIENT
    resource.setrlimit(resource.RLIMIT_CPU, (limits.cpu_s, limits.cpu_s))
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory_bytes, limits.memory_bytes))
    try:
        answer = b"T" + cache.encode(_build(order, sys.stdin.buffer, limits))
    except (MemoryError, ArithmeticError, LookupError, TypeError, ValueError, OSError) as problem:
        text = " ".join(str(problem).split()) or type(problem).__name__
        answer = b"E" + (text if isinstance(problem, TownRefused) else f"it cannot be built: {text}"[:300]).encode()
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as out:
        out.write(answer)


if __name__ == "__main__":
    main()
