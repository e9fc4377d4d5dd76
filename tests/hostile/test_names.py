"""What a crafted dataset may name: nothing outside its folder is read or written, and the validator reports it."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.dataset_factory import make_dataset
from uavsim.access.contact_sheet import write_contact_sheet
from uavsim.dataset.convert import convert
from uavsim.errors import UavsimError
from uavsim.exports.formats import EXPORTERS, ExportRequest
from uavsim.files.names import DataFolder, name_fault, part_fault
from uavsim.validate import validate_version

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


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dataset(
        tmp_path_factory.mktemp("clean") / "set", scenes=1, samples=2, sweeps=0, drones=1, size_px=(64, 36)
    )


@pytest.fixture
def crafted(clean: Path, tmp_path: Path) -> Callable[..., Path]:
    """Return a function that copies the clean dataset with one table changed."""

    def make(table: str, change: Callable[[list[dict[str, Any]]], object]) -> Path:
        copy = tmp_path / "set"
        for path in clean.rglob("*"):
            if path.is_file():
                target = copy / path.relative_to(clean)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(path.read_bytes())
        file = copy / f"v1.0-mini/{table}.json"
        rows = json.loads(file.read_text())
        change(rows)
        file.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
        return copy

    return make


def put(**fields: object) -> Callable[[list[dict[str, Any]]], object]:
    return lambda rows: rows[0].update(fields)


def export_everything(root: Path, out: Path) -> list[str]:
    """Run every reader that writes; returns what each said."""
    said = []
    jobs: list[Callable[[], object]] = [
        *(lambda kind=kind: EXPORTERS.pick(kind)(ExportRequest(root, out / kind)) for kind in EXPORTERS.builtin),
        lambda: convert(root, out / "converted", dialect="uav3d"),
        lambda: write_contact_sheet(root, out / "sheet.png", version="v1.0-mini"),
    ]
    for job in jobs:
        try:
            job()
            said.append("done")
        except UavsimError as error:
            said.append(f"{error.exit_code} {error}")
    assert all(one == "done" or (one[0] in "234" and "\n" not in one) for one in said)
    return said


def names_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize(("table", "field"), [("scene", "name"), ("sample_data", "filename"), ("sensor", "channel")])
def test_no_name_leaves_the_target(
    crafted: Callable[..., Path], tmp_path: Path, table: str, field: str, name: str
) -> None:
    root = crafted(table, put(**{field: name}))
    before = names_below(tmp_path)
    said = export_everything(root, tmp_path / "out")
    outside = {path for path in names_below(tmp_path) - before if not path.startswith("out")}
    assert not outside
    assert not any(one == "done" for one in said)
    assert not validate_version(root, "v1.0-mini", workers=1).ok


@pytest.mark.parametrize("kind", ["link to a file", "linked folder", "fifo", "device", "folder"])
def test_what_a_name_leads_to_must_be_a_file_inside(crafted: Callable[..., Path], tmp_path: Path, kind: str) -> None:
    root = crafted("log", lambda rows: None)
    (tmp_path / "secret").mkdir()
    image = next((root / "samples").rglob("*CAMERA_FRONT*.png"))
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
    said = export_everything(root, tmp_path / "out")
    assert not any(one == "done" for one in said), said
    codes = validate_version(root, "v1.0-mini", workers=1).counts
    assert {"files.link", "files.path"} & codes.keys()


def test_links_that_no_table_names_are_reported(crafted: Callable[..., Path], tmp_path: Path) -> None:
    root = crafted("log", lambda rows: None)
    (tmp_path / "elsewhere").mkdir()
    (root / "depth").symlink_to(tmp_path / "elsewhere")
    (root / "samples" / "CAM_EXTRA").symlink_to("/etc")
    findings = [f for f in validate_version(root, "v1.0-mini", workers=1).findings if f.code == "files.link"]
    assert {f.message.split()[0] for f in findings} == {"depth", "samples/CAM_EXTRA"}


def test_a_map_outside_is_reported(crafted: Callable[..., Path]) -> None:
    root = crafted("map", put(filename="../../../etc/passwd"))
    assert validate_version(root, "v1.0-mini", workers=1).counts["files.path"] == 1


def test_links_inside_are_followed(crafted: Callable[..., Path]) -> None:
    root = crafted("log", lambda rows: None)
    image = next((root / "samples").rglob("*CAMERA_FRONT*.png"))
    image.rename(root / "annex.png")
    image.symlink_to(root / "annex.png")
    assert not validate_version(root, "v1.0-mini", workers=1).counts.keys() & {"files.link", "files.path"}
    assert DataFolder(root).fault(str(image.relative_to(root))) is None


@given(st.text(st.characters(), max_size=40))
def test_what_passes_stays_inside(name: str) -> None:
    if name_fault(name) is None:
        joined = os.path.normpath(f"/data/set/{name}")
        assert joined.startswith("/data/set/")
        assert joined == f"/data/set/{name}"
        assert name.isprintable() or " " in name or any(ord(c) > 127 for c in name)
    if part_fault(name) is None:
        assert "/" not in name
        assert not name.startswith(".")


@given(st.one_of(st.none(), st.integers(), st.lists(st.text()), st.dictionaries(st.text(), st.text()), st.floats()))
def test_what_is_no_text_is_no_name(name: object) -> None:
    assert name_fault(name) is not None
