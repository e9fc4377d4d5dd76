"""An index of wheels that needs no network: ours as they are built, and what is installed here by its metadata."""

import re
import zipfile
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path

__all__ = ["index_of"]

BUILDS = ("hatchling", "hatch-fancy-pypi-readme", "packaging", "pathspec", "pluggy", "trove-classifiers", "editables")
"""What builds our wheels is in the index as it is: it runs. Of others, that they are found is all that is asked."""
OURS = re.compile(r"uavsim|headless.simulator")
BESIDE = {"setuptools": "80.9.0", "wheel": "0.45.1"}
"""Packages that lines name and no environment of ours holds."""


def index_of(folders: list[Path], into: Path) -> Path:
    """Write a wheel for each distribution in folders of site-packages, with a content only where it has to run."""
    into.mkdir()
    for found in distributions(path=[str(folder) for folder in folders]):
        name = str(found.metadata["Name"])
        if OURS.match(name) is None:
            _write(into, name, found.version, dict(_content(found) if name.lower() in BUILDS else _metadata(found)))
    for name, version in BESIDE.items():
        _write(into, name, version, {})
    return into


def _content(found: Distribution) -> Iterator[tuple[str, bytes]]:
    for file in found.files or []:
        if file.parts[0] != ".." and file.name != "RECORD" and "__pycache__" not in file.parts:
            yield str(file), file.read_binary()


def _metadata(found: Distribution) -> Iterator[tuple[str, bytes]]:
    folder = f"{_safe(str(found.metadata['Name']))}-{found.version}.dist-info"
    yield f"{folder}/METADATA", (found.read_text("METADATA") or "").encode()


def _write(into: Path, name: str, version: str, files: dict[str, bytes]) -> None:
    folder = f"{_safe(name)}-{version}.dist-info"
    files.setdefault(f"{folder}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode())
    files[f"{folder}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{folder}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{folder}/RECORD"]).encode()
    with zipfile.ZipFile(into / f"{_safe(name)}-{version}-py3-none-any.whl", "w") as wheel:
        for path, data in files.items():
            wheel.writestr(path, data)


def _safe(name: str) -> str:
    return re.sub(r"[-_.]+", "_", name)
