"""Evidence of a quarantined scene: reasons, plan, last image, last output of the client processes."""

from collections.abc import Mapping
from pathlib import Path

from uavsim.files.own_folder import OwnFolder
from uavsim.files.whole import storage_errors
from uavsim.store.layout import check_name

_NAMES = ("reasons.json", "plan.msgpack")
_IMAGE = "last_image."
_LOG = "-client.log"


def keep_evidence(root: Path, scene: str, *, files: Mapping[str, bytes]) -> None:
    """Write the evidence of a scene, and replace that of an earlier run.

    Raises:
        StorageError: the files cannot be written.
    """
    with storage_errors(f"keep the evidence of {scene}"):
        for name, data in files.items():
            OwnFolder(root).replace(f"{_folder(scene)}/{name}", data)


def image_evidence(recording: Path) -> dict[str, bytes]:
    """Return the newest colour image of an attempt by its name as evidence; {} without images."""
    images = sorted(recording.glob("rgb/*/*.*"), key=lambda path: (path.stem, path.parent.name))
    return {f"{_IMAGE}{path.suffix[1:]}": path.read_bytes() for path in images[-1:]}


def last_image(root: Path, scene: str) -> Path | None:
    """Return the path of the scene's last image; None without one."""
    names = (name for name, _ in OwnFolder(root).names(_folder(scene)) if name.startswith(_IMAGE))
    return next((root / _folder(scene) / name for name in names), None)


def drop_evidence(root: Path, scene: str) -> None:
    """Remove the files of ``keep_evidence``, and no others."""
    dataset, folder = OwnFolder(root), _folder(scene)
    with storage_errors(f"drop the evidence of {scene}"):
        names = [name for name, _ in dataset.names(folder)]
        written = [name for name in names if name in _NAMES or name.endswith(_LOG) or name.startswith(_IMAGE)]
        if written:
            dataset.remove({f"{folder}/{name}": None for name in written})
            dataset.remove_empty(folder)


def _folder(scene: str) -> str:
    return f".uavsim/quarantine/{check_name(scene, what='scene')}"
