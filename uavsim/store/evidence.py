"""Evidence of a scene that was given up: reasons, plan, the client processes' last words."""

from collections.abc import Mapping
from pathlib import Path

from uavsim.files.own_folder import OwnFolder
from uavsim.files.whole import storage_errors
from uavsim.store.layout import check_name

_NAMES = ("reasons.json", "plan.msgpack")
_LOG = "-client.log"


def keep_evidence(root: Path, scene: str, *, files: Mapping[str, bytes]) -> None:
    """Write the evidence of a scene, in place of that of an earlier run.

    Raises:
        StorageError: it cannot be written.
    """
    with storage_errors(f"keep the evidence of {scene}"):
        for name, data in files.items():
            OwnFolder(root).replace(f"{_folder(scene)}/{name}", data)


def drop_evidence(root: Path, scene: str) -> None:
    """Remove what ``keep_evidence`` wrote, and nothing else that may lie there."""
    own, folder = OwnFolder(root), _folder(scene)
    with storage_errors(f"drop the evidence of {scene}"):
        ours = [name for name, _ in own.names(folder) if name in _NAMES or name.endswith(_LOG)]
        if ours:
            own.remove({f"{folder}/{name}": None for name in ours})
            own.remove_empty(folder)


def _folder(scene: str) -> str:
    return f".uavsim/quarantine/{check_name(scene, what='scene')}"
