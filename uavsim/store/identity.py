"""``.uavsim/dataset.json``: which dataset a folder holds. A folder with another one is never written to."""

import hashlib
import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from uavsim.config.kept import KEPT, first_difference
from uavsim.errors import InputError, StorageError
from uavsim.files.parse import parse_json
from uavsim.files.result_folder import refuse_no_folder
from uavsim.files.whole import storage_errors, to_json_bytes
from uavsim.store.layout import file_roots
from uavsim.store.output import Output
from uavsim.typing import JsonDict

__all__ = [
    "IDENTITY",
    "check_identity",
    "claim_output",
    "fingerprint",
    "keep_asked",
    "keep_configuration",
    "kept_dataset",
    "read_asked",
    "read_configuration",
    "read_identity",
    "refuse_removed",
]

IDENTITY = ".uavsim/dataset.json"
_ASKED = ".uavsim/asked"
_REMEDY = "restore it, or choose another --out"
NOTES = ("asked", "fragments", "ledger", "logs", "manifests", "maps", "quarantine", "recordings", "staging")


def fingerprint(config: JsonDict, *, seed: int) -> str:
    """Name a dataset by its resolved configuration and seed: equal fingerprints give equal bytes."""
    canonical = json.dumps({"config": config, "seed": seed}, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()


def read_identity(output: Output) -> dict[str, Any] | None:
    """Return what the place says it holds, or None when it says nothing.

    Raises:
        StorageError: the file is there and is damaged, or not ours.
    """
    data = output.read(IDENTITY)
    if data is None:
        return None
    try:
        identity = parse_json(data)
    except ValueError as error:
        raise StorageError(f"{output.address}/{IDENTITY} is damaged ({error}): {_REMEDY}") from error
    if not isinstance(identity, dict) or not isinstance(identity.get("fingerprint"), str):
        raise StorageError(f"{output.address}/{IDENTITY} is damaged (it has no fingerprint): {_REMEDY}")
    if not isinstance(identity.get("dataset"), str) or type(identity.get("seed", 0)) is not int:
        raise StorageError(f"{output.address}/{IDENTITY} is damaged (dataset is no name or seed no number): {_REMEDY}")
    return identity


def check_identity(output: Output, *, mark: str, name: str, config: JsonDict | None = None) -> bool:
    """Say whether the place is fresh (True) or already holds this very dataset (False); writes nothing.

    Args:
        output: the place.
        mark: fingerprint of the dataset.
        name: of the dataset.
        config: that the fingerprint is of: an error says where the place's differs.

    Raises:
        InputError: it holds another dataset, or files that are not ours.
    """
    if output.is_local:
        refuse_no_folder(output.root)
        _refuse_links(output.root)
    identity = read_identity(output)
    if identity is None:
        _refuse_foreign_files(output)
        return True
    if identity["fingerprint"] != mark:
        held = f"{identity.get('dataset', 'a dataset')}, seed {identity.get('seed')}"
        found = first_difference(identity["config"], config) if config and "config" in identity else None
        differs = f"; {found}" if found else ""
        raise InputError(
            f"{output.address} holds another dataset ({held}; not the {name} of this command{differs}): "
            "choose another --out, or repeat the settings it was made with"
        )
    return False


def claim_output(output: Output, *, identity: JsonDict) -> None:
    """Write the identity into a fresh place; of several processes the first wins and the others must agree.

    Raises:
        InputError: another process claimed it for another dataset.
    """
    mark, name, config = identity["fingerprint"], str(identity.get("dataset")), identity.get("config")
    if check_identity(output, mark=mark, name=name, config=config) and not output.create(
        IDENTITY, to_json_bytes(identity)
    ):
        check_identity(output, mark=mark, name=name, config=config)


def keep_configuration(output: Output, kept: JsonDict) -> None:
    """Write the YAML texts that the dataset is made from beside its identity; those of a command that may go on with it."""
    if not kept:
        return
    key, data = f".uavsim/{KEPT}", to_json_bytes(kept)
    if not output.create(key, data) and output.read(key) != data:
        output.replace(key, data)


def read_configuration(output: Output) -> JsonDict | None:
    """Return the YAML texts that a dataset keeps; None when it keeps none.

    Raises:
        StorageError: the file is damaged.
    """
    data = output.read(f".uavsim/{KEPT}")
    try:
        return None if data is None else dict(parse_json(data))
    except (ValueError, TypeError) as error:
        raise StorageError(f"{output.address}/.uavsim/{KEPT} is damaged ({error}): {_REMEDY}") from error


def keep_asked(output: Output, scenes: Collection[str]) -> None:
    """Note the scenes that a command asked for; each set of them is a file of its own, so that no two processes meet."""
    data = to_json_bytes({"scenes": sorted(scenes)})
    output.create(f"{_ASKED}/{hashlib.sha256(data).hexdigest()[:16]}.json", data)


def read_asked(output: Output) -> frozenset[str] | None:
    """Return every scene that was asked for; None for a dataset that was begun before this was noted.

    Raises:
        StorageError: a note is damaged.
    """
    found: set[str] = set()
    keys = output.keys(_ASKED)
    for key in keys:
        try:
            found.update(map(str, parse_json(output.read(key) or b"")["scenes"]))
        except (ValueError, KeyError, TypeError) as error:
            raise StorageError(
                f"{output.address}/{key} is damaged ({error}): restore it from a copy, or move it away"
            ) from error
    return frozenset(found) if keys else None


def kept_dataset(output: Output) -> str | None:
    """Return what to name as ``--dataset`` for the configuration that a local dataset keeps; None when it keeps none."""
    path = output.root / ".uavsim" / KEPT if output.is_local else None
    return str(path) if path is not None and path.is_file() and not path.is_symlink() else None


def refuse_removed(output: Output) -> None:
    """Notice that somebody removed the place while a run is at work.

    Raises:
        StorageError: it is gone.
    """
    if output.read(IDENTITY) is None:
        raise StorageError(
            f"{output.address} was removed, or emptied, while the run was at work; run the same command again"
        )


def _refuse_links(root: Path) -> None:
    """Refuse a folder in which a link stands where a run writes: what it leads to is not ours."""
    tops = [root / name for name in (*file_roots(), "maps", ".uavsim")]
    notes = [root / ".uavsim" / name for name in NOTES]
    with storage_errors(f"look at {root}"):
        versions = sorted(path for path in root.iterdir() if path.name.startswith("v1.0-")) if root.is_dir() else []
        channels = [
            path for top in tops[: len(file_roots())] if top.is_dir() and not top.is_symlink() for path in top.iterdir()
        ]
        links = [path for path in (*tops, *notes, *versions, *channels) if path.is_symlink()]
    if links:
        raise InputError(f"{links[0]} is a link, and a run writes into folders of its own only: choose another --out")


def _refuse_foreign_files(output: Output) -> None:
    if output.is_local:
        root: Path = output.root
        foreign = sorted(p.name for p in root.iterdir() if p.name != ".uavsim") if root.is_dir() else []
    else:
        foreign = [key for key in output.keys("") if not key.startswith(".uavsim/")][:1]
    if foreign:
        raise InputError(
            f"{output.address} is not empty and holds no uavsim dataset ({foreign[0]}); choose another --out"
        )
