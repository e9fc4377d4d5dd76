"""Evidence of a scene that was given up: reasons, plan, the last image, the client processes' last words."""

from collections.abc import Mapping
from pathlib import Path

from uavsim.files.own_folder import OwnFolder
from uavsim.files.whole import storage_errors
from uavsim.store.layout import check_name

_NAMES = ("reasons.json", "plan.msgpack")
_IMAGE = "last_image."
_LOG = "-client.log"


def keep_evidence(root: Path, scene: str, *, files: Mapping[str, bytes]) -> None:
    """Write the evidence of a scene, in place of that of an earlier run.

    Raises:
        StorageError: it cannot be written.
    """
    with storage_errors(f"keep the evidence of {scene}"):
        for name, data in files.items():
            OwnFolder(root).replace(f"{_folder(scene)}/{name}", data)


def image_evidence(recording: Path) -> dict[str, bytes]:
    """Return the newest colour image that an attempt wrote, by its name as evidence; nothing where it wrote none."""
    images = sorted(recording.glob("rgb/*/*.*"), key=lambda path: (path.stem, path.parent.name))
    return {f"{_IMAGE}{path.suffix[1:]}": path.read_bytes() for path in images[-1:]}


def last_image(root: Path, scene: str) -> Path | None:
    """Return the path of the last image that ``keep_evidence`` wrote."""
    names = (name for name, _ in OwnFolder(root).names(_folder(scene)) if name.startswith(_IMAGE))
    return next((root / _folder(scene) / name for name in names), None)


def drop_evidence(root: Path, scene: str) -> None:
    """Remove what ``keep_evidence`` wrote, and nothing else that may lie there."""
    own, folder = OwnFolder(root), _folder(scene)
    with storage_errors(f"drop the evidence of {scene}"):
        ours = [
            name for name, _ in own.names(folder) if name in _NAMES or name.endswith(_LOG) or name.startswith(_IMAGE)
        ]
        if ours:
            own.remove({f"{folder}/{name}": None for name in ours})
            own.remove_empty(folder)


def _folder(scene: str) -> str:
    return f".uavsim/quarantine/{check_name(scene, what='scene')}"
