"""Checks after a run: hashes of its files, orphaned files, and surviving processes."""

import hashlib
import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import psutil

__all__ = ["contents", "dataset_files", "differing", "events", "orphans", "state_of", "surviving"]

SHEET: Final = "contact_sheet.png"
_FOLDERS: Final = ("asked", "ledger", "logs", "recordings", "locks", "quarantine", "manifests")
NOTES: Final = (SHEET, *(f".uavsim/{name}" for name in _FOLDERS))


def contents(root: Path) -> dict[str, str]:
    """Hash all files except the notes of the run; temporary and staging files count."""
    return _hashes(root, but=NOTES)


def dataset_files(root: Path, *folders: str) -> dict[str, str]:
    """Hash the files of a dataset, or of some of its folders, without ``.uavsim``."""
    return _hashes(root, *folders, but=(".uavsim", SHEET))


def _hashes(root: Path, *folders: str, but: tuple[str, ...]) -> dict[str, str]:
    paths = (p for folder in folders or ("",) for p in (root / folder).rglob("*") if p.is_file())
    names = {str(p.relative_to(root)): p for p in sorted(paths)}
    chosen = {n: p for n, p in names.items() if not any(f"/{name}" in f"/{n}" for name in but)}
    return {n: hashlib.sha256(p.read_bytes()).hexdigest() for n, p in chosen.items()}


def differing(one: dict[str, str], other: dict[str, str]) -> list[str]:
    """Return the files that differ or exist in one of both only."""
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


def events(out: Path) -> dict[str, list[dict[str, object]]]:
    """Read the events in the logs of all scenes, by scene."""
    logs = sorted((out / ".uavsim/logs").glob("scene_*.jsonl"))
    return {path.stem: [json.loads(line) for line in path.read_text().splitlines()] for path in logs}


def orphans(root: Path, scenes: int) -> list[str]:
    """List files and scenes that belong to no committed scene."""
    ledger = {p.stem: json.loads(p.read_text())["state"] for p in (root / ".uavsim/ledger").glob("*.json")}
    found = [f"{name} is {state}" for name, state in ledger.items() if state != "committed"]
    found += [] if len(ledger) == scenes else [f"{len(ledger)} of {scenes} scenes in the ledger"]
    found += [str(p) for p in (root / ".uavsim/staging").glob("*")]
    found += [str(p) for p in root.rglob("*.uavsim-tmp")]
    found += [str(p) for p in (root / ".uavsim/recordings").glob("*") if p.name.partition("~")[0] not in ledger]
    return found


def state_of(out: Path) -> dict[str, str]:
    """Return the hash of each scene's files in the tables.

    Raises:
        AssertionError: a file in a table is missing.
    """
    tables = {
        name: json.loads((out / f"v1.0-mini/{name}.json").read_text()) for name in ("scene", "sample", "sample_data")
    }
    scene_of = {row["token"]: row["name"] for row in tables["scene"]}
    sample_scene = {row["token"]: scene_of[row["scene_token"]] for row in tables["sample"]}
    parts: dict[str, list[str]] = {name: [] for name in scene_of.values()}
    for row in tables["sample_data"]:
        path = out / row["filename"]
        assert path.is_file(), f"{row['filename']} is in a table and missing"
        parts[sample_scene[row["sample_token"]]].append(hashlib.sha256(path.read_bytes()).hexdigest())
    return {name: hashlib.sha256("".join(found).encode()).hexdigest() for name, found in parts.items()}


def surviving(pids: Iterable[int], *, timeout_s: float) -> list[int]:
    """Return the processes that still run after a timeout."""
    end = time.monotonic() + timeout_s
    while (alive := [pid for pid in pids if _runs(pid)]) and time.monotonic() < end:
        time.sleep(0.02)
    return alive


def _runs(pid: int) -> bool:
    """Return whether a process exists and is no zombie."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
