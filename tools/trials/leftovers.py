"""What a run leaves: its files' hashes, what belongs to no scene, and processes that outlive it."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import psutil

__all__ = ["contents", "differing", "events", "orphans", "surviving"]

NOTES: Final = tuple(
    f".uavsim/{name}" for name in ("ledger", "logs", "recordings", "locks", "quarantine", "contact_sheet", "manifests")
)


def contents(root: Path) -> dict[str, str]:
    """Hash everything but the run's own notes; temp and staging files count, so that leftovers show."""
    files = {str(p.relative_to(root)): p for p in sorted(root.rglob("*")) if p.is_file()}
    return {n: hashlib.sha256(p.read_bytes()).hexdigest() for n, p in files.items() if not n.startswith(NOTES)}


def differing(wanted: dict[str, str], got: dict[str, str]) -> list[str]:
    """Name the files that are not the same in both."""
    return sorted(name for name in wanted.keys() | got.keys() if wanted.get(name) != got.get(name))


def events(out: Path) -> dict[str, list[dict[str, object]]]:
    """Return what each scene's log tells, by scene."""
    logs = sorted((out / ".uavsim/logs").glob("scene_*.jsonl"))
    return {path.stem: [json.loads(line) for line in path.read_text().splitlines()] for path in logs}


def orphans(root: Path, scenes: int) -> list[str]:
    """Name what belongs to no committed scene."""
    ledger = {p.stem: json.loads(p.read_text())["state"] for p in (root / ".uavsim/ledger").glob("*.json")}
    found = [f"{name} is {state}" for name, state in ledger.items() if state != "committed"]
    found += [] if len(ledger) == scenes else [f"{len(ledger)} of {scenes} scenes in the ledger"]
    found += [str(p) for p in (root / ".uavsim/staging").glob("*")]
    found += [str(p) for p in root.rglob("*.uavsim-tmp")]
    found += [str(p) for p in (root / ".uavsim/recordings").glob("*") if p.name.partition("~")[0] not in ledger]
    return found


def surviving(pids: Iterable[int], *, timeout_s: float) -> list[int]:
    """Return the processes that outlive their run, after a moment to die in."""
    end = time.monotonic() + timeout_s
    while (alive := [pid for pid in pids if _runs(pid)]) and time.monotonic() < end:
        time.sleep(0.02)
    return alive


def _runs(pid: int) -> bool:
    """Tell whether a process is more than a zombie waiting to be collected."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
