"""``.uavsim/dataset.json``: the identity of the dataset in a folder. A run never writes into another dataset."""

import hashlib
import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from uavsim.config.stored import CONFIG_FILE, first_difference
from uavsim.errors import InputError, StorageError
from uavsim.files.parse import parse_json
from uavsim.files.result_folder import refuse_no_folder
from uavsim.files.whole import storage_errors, to_json_bytes
from uavsim.store.layout import file_roots
from uavsim.store.output import Output
from uavsim.typing import JsonDict

IDENTITY = ".uavsim/dataset.json"
_REQUESTED = ".uavsim/asked"
_REMEDY = "restore it, or choose another --out"
NOTES = ("asked", "fragments", "ledger", "logs", "manifests", "maps", "quarantine", "recordings", "staging")


def fingerprint(config: JsonDict, *, seed: int) -> str:
    """Return the hash of a resolved configuration and seed: equal fingerprints give equal datasets."""
    canonical = json.dumps({"config": config, "seed": seed}, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()


def read_identity(output: Output) -> dict[str, Any] | None:
    """Return the identity of the dataset in an output, or None without one.

    Raises:
        StorageError: the file is damaged.
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
        raise StorageError(f"{output.address}/{IDENTITY} is damaged (its dataset or seed has a wrong type): {_REMEDY}")
    return identity


def check_identity(output: Output, *, mark: str, name: str, config: JsonDict | None = None) -> bool:
    """Return whether the output is empty (True) or has this dataset (False); writes nothing.

    Args:
        output: the output.
        mark: fingerprint of the dataset.
        name: name of the dataset.
        config: resolved configuration of the fingerprint; the error reports its first difference.

    Raises:
        InputError: the output has another dataset, or foreign files.
    """
    if output.is_local:
        refuse_no_folder(output.root)
        _refuse_links(output.root)
    identity = read_identity(output)
    if identity is None:
        _refuse_foreign_files(output)
        return True
    if identity["fingerprint"] != mark:
        found_dataset = f"{identity.get('dataset', 'a dataset')}, seed {identity.get('seed')}"
        found = first_difference(identity["config"], config) if config and "config" in identity else None
        differs = f"; {found}" if found else ""
        raise InputError(
            f"{output.address} holds another dataset ({found_dataset}; this command makes {name}{differs}): "
            "choose another --out, or repeat the settings it was made with"
        )
    return False


def claim_output(output: Output, *, identity: JsonDict) -> None:
    """Write the identity into an empty output; of several processes, the first one wins.

    Raises:
        InputError: another process claimed the output for another dataset.
    """
    mark, name, config = identity["fingerprint"], str(identity.get("dataset")), identity.get("config")
    if check_identity(output, mark=mark, name=name, config=config) and not output.create(
        IDENTITY, to_json_bytes(identity)
    ):
        check_identity(output, mark=mark, name=name, config=config)


def keep_configuration(output: Output, texts: JsonDict) -> None:
    """Write the YAML texts of the dataset beside its identity, and replace those of an earlier command."""
    if not texts:
        return
    key, data = f".uavsim/{CONFIG_FILE}", to_json_bytes(texts)
    if not output.create(key, data) and output.read(key) != data:
        output.replace(key, data)


def read_configuration(output: Output) -> JsonDict | None:
    """Return the YAML texts of a dataset; None if it has none.

    Raises:
        StorageError: the file is damaged.
    """
    data = output.read(f".uavsim/{CONFIG_FILE}")
    try:
        return None if data is None else dict(parse_json(data))
    except (ValueError, TypeError) as error:
        raise StorageError(f"{output.address}/.uavsim/{CONFIG_FILE} is damaged ({error}): {_REMEDY}") from error


def keep_asked(output: Output, scenes: Collection[str]) -> None:
    """Record the scenes that a command requests; each set has a file of its own, so that processes do not conflict."""
    data = to_json_bytes({"scenes": sorted(scenes)})
    output.create(f"{_REQUESTED}/{hashlib.sha256(data).hexdigest()[:16]}.json", data)


def read_asked(output: Output) -> frozenset[str] | None:
    """Return the union of all requested scenes; None if there is no record.

    Raises:
        StorageError: a record is damaged.
    """
    found: set[str] = set()
    keys = output.keys(_REQUESTED)
    for key in keys:
        try:
            found.update(map(str, parse_json(output.read(key) or b"")["scenes"]))
        except (ValueError, KeyError, TypeError) as error:
            raise StorageError(
                f"{output.address}/{key} is damaged ({error}): restore it from a copy, or move it away"
            ) from error
    return frozenset(found) if keys else None


def kept_dataset(output: Output) -> str | None:
    """Return the value of ``--dataset`` for the configuration that a local dataset keeps; None if it keeps none."""
    path = output.root / ".uavsim" / CONFIG_FILE if output.is_local else None
    return str(path) if path is not None and path.is_file() and not path.is_symlink() else None


def refuse_removed(output: Output) -> None:
    """Verify that the output still exists during a run.

    Raises:
        StorageError: the output was removed.
    """
    if output.read(IDENTITY) is None:
        raise StorageError(f"{output.address} was removed or emptied during the run; run the same command again")


def _refuse_links(root: Path) -> None:
    """Refuse a folder with symbolic links in places where a run writes."""
    tops = [root / name for name in (*file_roots(), "maps", ".uavsim")]
    notes = [root / ".uavsim" / name for name in NOTES]
    with storage_errors(f"inspect {root}"):
        versions = sorted(path for path in root.iterdir() if path.name.startswith("v1.0-")) if root.is_dir() else []
        channels = [
            path for top in tops[: len(file_roots())] if top.is_dir() and not top.is_symlink() for path in top.iterdir()
        ]
        links = [path for path in (*tops, *notes, *versions, *channels) if path.is_symlink()]
    if links:
        raise InputError(f"{links[0]} is a link, and a run does not write through links; choose another --out")


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
