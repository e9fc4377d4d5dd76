"""Promises about files: each one named is there, whole, and of the size and format stated."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

import numpy as np

from uavsim.files.names import MISSING, name_fault, part_fault
from uavsim.validate.dataset import DataSet, Place
from uavsim.validate.evidence import Evidence
from uavsim.validate.findings import Finding

__all__ = [
    "folders_inside",
    "formats_told",
    "images_whole",
    "layers_there",
    "lidar_files_there",
    "maps_there",
    "masks_whole",
    "paths_inside",
]

_ROOTS: Final = ("samples", "sweeps", "masks", "depth", "lidar", "degraded", "maps")
_POINT_BYTES: Final = 20  # float32 x, y, z, intensity, ring
_FORMATS: Final = {".png": {"png"}, ".jpg": {"jpg", "jpeg"}, ".jpeg": {"jpg", "jpeg"}, ".bin": {"pcd", "bin"}}
_WORDS: Final = {
    "missing": ("files.missing", "is not there"),
    "truncated": ("files.truncated", "has no end: it was cut off"),
    "unreadable": ("files.decode", "cannot be decoded"),
    "huge": ("files.size", "promises more pixels than any image has"),
}


def images_whole(evidence: Evidence) -> Iterator[Finding]:
    """Every image is there, whole, and as large as its row says."""
    data = evidence.data
    images = data["sample_data"]
    for look in evidence.looks:
        name, place = images["filename"][look.row], data.data_place(look.row)
        if look.state in _WORDS:
            code, words = _WORDS[look.state]
            yield Finding(code, f"{name} {words}", **place)
        stated = (int(images["width"][look.row]), int(images["height"][look.row]))
        if look.state not in {"missing", "unreadable"} and look.found_px != stated:
            found = f"{look.found_px[0]} x {look.found_px[1]}"
            message = f"{name} is {found}, its row says {stated[0]} x {stated[1]}"
            yield Finding("files.size", message, **place)


def masks_whole(evidence: Evidence) -> Iterator[Finding]:
    """Every mask named is there, whole, and as large as its image."""
    for look in evidence.looks:
        place = evidence.data.data_place(look.row)
        if look.mask_state in _WORDS:
            code, words = _WORDS[look.mask_state]
            yield Finding(code, f"mask of {evidence.data['sample_data']['filename'][look.row]} {words}", **place)
        elif look.mask_state == "good" and look.state == "good" and look.mask_px != look.found_px:
            message = (
                f"mask is {look.mask_px[0]} x {look.mask_px[1]}, its image {look.found_px[0]} x {look.found_px[1]}"
            )
            yield Finding("files.size", message, **place)


def lidar_files_there(evidence: Evidence) -> Iterator[Finding]:
    """Point clouds are there and hold whole points of five float32."""
    data = evidence.data
    images, sensor = data["sample_data"], data.sensor_of_data
    camera = data.is_camera
    for row in np.flatnonzero(sensor >= 0).tolist():
        if camera[sensor[row]]:
            continue
        path, fault = data.root / images["filename"][row], data.files.fault(images["filename"][row])
        if fault == MISSING:
            yield Finding("files.missing", f"{images['filename'][row]} is not there", **data.data_place(row))
        elif fault is None and path.name.endswith(".pcd.bin") and path.stat().st_size % _POINT_BYTES:
            message = f"{images['filename'][row]} is no whole number of points of {_POINT_BYTES} bytes"
            yield Finding("files.size", message, **data.data_place(row))


def layers_there(evidence: Evidence) -> Iterator[Finding]:
    """What lies beside the channels' own files (depth, classes, flow, points' ids) is there; masks are told apart."""
    data = evidence.data
    if "layer" not in data.tables:
        return
    layer = data["layer"]
    for name, kind, owner in zip(layer["filename"], layer["kind"], layer["sample_data_token"].tolist(), strict=True):
        if kind != "instance" and data.files.fault(name) == MISSING:
            yield Finding("files.missing", f"{name} is not there", **(data.data_place(owner) if owner >= 0 else {}))


def maps_there(evidence: Evidence) -> Iterator[Finding]:
    """Map masks exist: the devkit looks for them when it loads."""
    for filename in evidence.data["map"]["filename"]:
        if evidence.data.files.fault(filename) == MISSING:
            yield Finding("files.missing", f"map {filename} is not there: the devkit cannot load the data set")


def formats_told(evidence: Evidence) -> Iterator[Finding]:
    """``fileformat`` is that of the file name, and no two rows share a file."""
    data = evidence.data
    images = data["sample_data"]
    seen: dict[str, int] = {}
    for row, (name, told) in enumerate(zip(images["filename"], images["fileformat"], strict=True)):
        usual = _FORMATS.get(PurePosixPath(name).suffix.lower())
        if usual and told not in usual:
            yield Finding("files.format", f"{name}: fileformat says {told!r}", **data.data_place(row))
        if name in seen:
            yield Finding("files.shared", f"{name} stands in two rows", **data.data_place(row))
        seen[name] = row


def paths_inside(evidence: Evidence) -> Iterator[Finding]:
    """File names are relative, plain, and lead to regular files in the data set's folder, not out of it by links."""
    data = evidence.data
    for row, name in enumerate(data["sample_data"]["filename"]):
        yield from _path_finding(data, name, data.data_place(row))
    for table in ("map", "layer"):
        if table in data.tables:
            for name in data[table]["filename"]:
                yield from _path_finding(data, name, Place())


def _path_finding(data: DataSet, name: str, place: Place) -> Iterator[Finding]:
    fault = data.files.fault(name)
    if fault not in {None, MISSING}:
        code = "files.link" if "link" in str(fault) else "files.path"
        yield Finding(code, f"{name[:200]} {fault}", **place)


def names_plain(evidence: Evidence) -> Iterator[Finding]:
    """Scenes, channels, towns and splits have names that can be parts of file names: exporters make folders of them."""
    data = evidence.data
    named = [("scene", name) for name in data["scene"]["name"]]
    named += [("channel", name) for name in data["sensor"]["channel"]]
    named += [("split", name) for name in data.splits]
    for what, name in named:
        fault = part_fault(name)
        if fault:
            yield Finding("files.name", f"{what} {name[:200]!a} {fault}")
    for name in data["category"]["name"]:
        fault = name_fault(name)
        if fault:
            yield Finding("files.name", f"category {name[:200]!a} {fault}")


def folders_inside(evidence: Evidence) -> Iterator[Finding]:
    """No folder of the data set is a link that leads out of it."""
    data = evidence.data
    tops = [*_ROOTS, data.version]
    with os.scandir(data.root) as entries:
        found = [entry.name for entry in entries if entry.name in tops]
    for top in sorted(found):
        names = [top]
        if top in _ROOTS and (data.root / top).is_dir():
            with os.scandir(data.root / top) as entries:
                names += sorted(f"{top}/{entry.name}" for entry in entries if entry.is_symlink())
        for name in names:
            outside = data.files.leads_outside(name)
            if outside:
                yield Finding("files.link", f"{name} {outside}")
