"""Crafted names in a dataset: nothing outside its folder is read or written, and the validator reports them."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.hostile.datasets import edit_first
from uavsim.access.contact_sheet import write_contact_sheet
from uavsim.dataset.convert import convert
from uavsim.errors import UavsimError
from uavsim.exports.formats import EXPORTERS, ExportRequest
from uavsim.files.names import DataFolder, name_fault, part_fault
from uavsim.validate import validate_version
from uavsim.validate.findings import Report

BAD = [
    "../../../x",
    "/etc/passwd",
    "a/../../x",
    "x\0y",
    "\ud800",
    "a\nb",
    "",
    "\x1b[31m",
    "a\\b",
    "./a",
    "a//b",
    "x" * 300,
]


def export_everything(root: Path, out: Path) -> list[str]:
    """Run every writer of results; returns ``done`` or the error of each."""
    outcomes = []
    jobs: list[Callable[[], object]] = [
        *(lambda kind=kind: EXPORTERS.pick(kind)(ExportRequest(root, out / kind)) for kind in EXPORTERS.builtin),
        lambda: convert(root, out / "converted", dialect="uav3d"),
        lambda: write_contact_sheet(root, out / "sheet.png", version="v1.0-mini"),
    ]
    for job in jobs:
        try:
            job()
            outcomes.append("done")
        except UavsimError as error:
            outcomes.append(f"{error.exit_code} {error}")
    assert all(one == "done" or (one[0] in "234" and "\n" not in one) for one in outcomes)
    return outcomes


def names_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def first_image(root: Path) -> Path:
    return next((root / "samples").rglob("*CAMERA_FRONT*.png"))


def report_of(root: Path) -> Report:
    return validate_version(root, "v1.0-mini", workers=1)


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize(("table", "field"), [("scene", "name"), ("sample_data", "filename"), ("sensor", "channel")])
def test_bad_name_is_refused_and_writes_nothing_outside(
    tiny_copy: Path, tmp_path: Path, table: str, field: str, name: str
) -> None:
    edit_first(tiny_copy, table, **{field: name})
    before = names_below(tmp_path)
    assert "done" not in export_everything(tiny_copy, tmp_path / "out")
    assert not {path for path in names_below(tmp_path) - before if not path.startswith("out")}
    assert not report_of(tiny_copy).ok


@pytest.mark.parametrize("kind", ["link to a file", "linked folder", "fifo", "device", "folder"])
def test_named_file_must_be_a_file_inside(tiny_copy: Path, tmp_path: Path, kind: str) -> None:
    (tmp_path / "secret").mkdir()
    image = first_image(tiny_copy)
    secret = tmp_path / "secret" / image.name
    secret.write_bytes(image.read_bytes())
    if kind == "linked folder":
        image.parent.rename(tmp_path / "secret" / "channel")
        image.parent.symlink_to(tmp_path / "secret" / "channel")
    else:
        image.unlink()
        {
            "link to a file": lambda: image.symlink_to(secret),
            "fifo": lambda: os.mkfifo(image),
            "device": lambda: os.mknod(image, 0o20666, os.makedev(1, 5)) if os.geteuid() == 0 else os.mkfifo(image),
            "folder": image.mkdir,
        }[kind]()
    assert "done" not in export_everything(tiny_copy, tmp_path / "out")
    assert {"files.link", "files.path"} & report_of(tiny_copy).counts.keys()


def test_links_outside_the_tables_are_reported(tiny_copy: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tiny_copy / "depth").symlink_to(tmp_path / "elsewhere")
    (tiny_copy / "samples/CAM_EXTRA").symlink_to("/etc")
    findings = [f for f in report_of(tiny_copy).findings if f.code == "files.link"]
    assert {f.message.split()[0] for f in findings} == {"depth", "samples/CAM_EXTRA"}


def test_links_inside_are_followed(tiny_copy: Path) -> None:
    image = first_image(tiny_copy)
    image.rename(tiny_copy / "annex.png")
    image.symlink_to(tiny_copy / "annex.png")
    assert not report_of(tiny_copy).counts.keys() & {"files.link", "files.path"}
    assert DataFolder(tiny_copy).fault(str(image.relative_to(tiny_copy))) is None


@given(st.text(st.characters(), max_size=40))
def test_accepted_name_stays_inside(name: str) -> None:
    if name_fault(name) is None:
        assert os.path.normpath(f"/data/set/{name}") == f"/data/set/{name}"
        assert name.isprintable() or " " in name or any(ord(c) > 127 for c in name)
    if part_fault(name) is None:
        assert "/" not in name
        assert not name.startswith(".")


@given(st.one_of(st.none(), st.integers(), st.lists(st.text()), st.dictionaries(st.text(), st.text()), st.floats()))
def test_only_text_is_a_name(name: object) -> None:
    assert name_fault(name) is not None
