"""A local index of wheels: uavsim's built wheels, and installed distributions by their metadata."""

import re
import zipfile
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path

__all__ = ["index_of"]

BUILDS = ("hatchling", "hatch-fancy-pypi-readme", "packaging", "pathspec", "pluggy", "trove-classifiers", "editables")
"""Build requirements, complete in the index because they run; other wheels only need metadata."""
OURS = re.compile(r"uavsim|headless.simulator")
BESIDE = {"setuptools": "80.9.0", "wheel": "0.45.1"}
"""Packages of install commands that no environment has."""


def index_of(folders: list[Path], into: Path) -> Path:
    """Write a wheel for each distribution in folders of site-packages, with content only for build requirements."""
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
