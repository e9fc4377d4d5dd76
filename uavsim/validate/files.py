"""Checks of files: existence, completeness, size, format and name."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

import numpy as np

from uavsim.files.names import MISSING, name_fault, part_fault
from uavsim.validate.dataset import FILE_TABLES
from uavsim.validate.evidence import Evidence
from uavsim.validate.findings import Finding

_POINT_BYTES: Final = 20  # float32 x, y, z, intensity, ring
_FORMATS: Final = {".png": {"png"}, ".jpg": {"jpg", "jpeg"}, ".jpeg": {"jpg", "jpeg"}, ".bin": {"pcd", "bin"}}
_WORDS: Final = {
    "missing": ("files.missing", "is missing"),
    "truncated": ("files.truncated", "is truncated"),
    "unreadable": ("files.decode", "cannot be decoded"),
    "huge": ("files.size", "declares more pixels than the limit"),
}


def images_complete(evidence: Evidence) -> Iterator[Finding]:
    """Every image exists, is complete, and has the size of its row."""
    data = evidence.data
    images = data["sample_data"]
    for look in evidence.looks:
        name, location = images["filename"][look.row], data.data_place(look.row)
        if look.state in _WORDS:
            code, words = _WORDS[look.state]
            yield Finding(code, f"{name} {words}", **location)
        stated = (int(images["width"][look.row]), int(images["height"][look.row]))
        if look.state not in {"missing", "unreadable"} and look.found_px != stated:
            found = f"{look.found_px[0]} x {look.found_px[1]}"
            message = f"{name} is {found}, its row says {stated[0]} x {stated[1]}"
            yield Finding("files.size", message, **location)


def masks_complete(evidence: Evidence) -> Iterator[Finding]:
    """Every mask exists, is complete, and has the size of its image."""
    for look in evidence.looks:
        location = evidence.data.data_place(look.row)
        if look.mask_state in _WORDS:
            code, words = _WORDS[look.mask_state]
            yield Finding(code, f"mask of {evidence.data['sample_data']['filename'][look.row]} {words}", **location)
        elif look.mask_state == "good" and look.state == "good" and look.mask_px != look.found_px:
            message = (
                f"mask is {look.mask_px[0]} x {look.mask_px[1]}, its image {look.found_px[0]} x {look.found_px[1]}"
            )
            yield Finding("files.size", message, **location)


def lidar_files_exist(evidence: Evidence) -> Iterator[Finding]:
    """Point clouds exist and consist of complete points of five float32."""
    data = evidence.data
    images, sensor = data["sample_data"], data.sensor_of_data
    camera = data.is_camera
    for row in np.flatnonzero(sensor >= 0).tolist():
        if camera[sensor[row]]:
            continue
        name = images["filename"][row]
        fault = data.files.fault(name)
        if fault == MISSING:
            yield Finding("files.missing", f"{name} is missing", **data.data_place(row))
        elif fault is None and name.endswith(".pcd.bin") and data.files.file(name).stat().st_size % _POINT_BYTES:
            message = f"{name} is not a whole number of points of {_POINT_BYTES} bytes"
            yield Finding("files.size", message, **data.data_place(row))


def layers_exist(evidence: Evidence) -> Iterator[Finding]:
    """The files of layers, point labels and streams exist; ``masks_complete`` checks masks."""
    data = evidence.data
    for table in sorted({"layer", "lidarseg", "stream"} & data.tables.keys()):
        names = data[table]["filename"]
        for row, (name, kind) in enumerate(zip(names, data[table].get("kind") or [table] * len(names), strict=True)):
            if kind != "instance" and data.files.fault(name) == MISSING:
                yield Finding("files.missing", f"{name} is missing", **data.locate(table, row))


def maps_exist(evidence: Evidence) -> Iterator[Finding]:
    """Map masks exist; the devkit opens them when it loads the dataset."""
    for filename in evidence.data["map"]["filename"]:
        if evidence.data.files.fault(filename) == MISSING:
            yield Finding("files.missing", f"map {filename} is missing: the devkit cannot load the dataset")


def formats_reported(evidence: Evidence) -> Iterator[Finding]:
    """``fileformat`` agrees with the file name, and no two rows share a file."""
    data = evidence.data
    images = data["sample_data"]
    row_of_file: dict[str, int] = {}
    for row, (name, reported) in enumerate(zip(images["filename"], images["fileformat"], strict=True)):
        usual = _FORMATS.get(PurePosixPath(name).suffix.lower())
        if usual and reported not in usual:
            yield Finding("files.format", f"{name}: fileformat says {reported!r}", **data.data_place(row))
        if name in row_of_file:
            yield Finding("files.shared", f"two rows name the file {name}", **data.data_place(row))
        row_of_file[name] = row


def paths_inside(evidence: Evidence) -> Iterator[Finding]:
    """File names of all tables are relative and plain, and lead to regular files of usual size in the dataset's folder."""
    data = evidence.data
    for table in FILE_TABLES:
        if table not in data.tables:
            continue
        for row, name in enumerate(data[table]["filename"]):
            fault = data.files.fault(name)
            if fault not in {None, MISSING}:
                code = (
                    "files.link" if "link" in str(fault) else "files.size" if "larger" in str(fault) else "files.path"
                )
                yield Finding(code, f"{name[:200]} {fault}", **data.locate(table, row))


def names_plain(evidence: Evidence) -> Iterator[Finding]:
    """Names of scenes, channels, splits and categories can be parts of file names: exporters make folders of them."""
    data = evidence.data
    named = [("scene", name) for name in data["scene"]["name"]]
    named += [("channel", name) for name in data["sensor"]["channel"]]
    named += [("split", name) for name in data.splits]
    for kind, name in named:
        fault = part_fault(name)
        if fault:
            yield Finding("files.name", f"{kind} {name[:200]!a} {fault}")
    for name in data["category"]["name"]:
        fault = name_fault(name)
        if fault:
            yield Finding("files.name", f"category {name[:200]!a} {fault}")


def folders_inside(evidence: Evidence) -> Iterator[Finding]:
    """No folder of the dataset on the first two levels is a link that leads out of the dataset."""
    files = evidence.data.files
    for top in files.names(""):
        for name in (top, *(f"{top}/{below}" for below in files.names(top))):
            path = files.root / name
            outside = files.leads_outside(name) if path.is_symlink() and path.is_dir() else None
            if outside:
                yield Finding("files.link", f"{name} {outside}")
