"""Planted defects of event cameras are found with their codes; a camera's real events give no finding."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.dataset_factory import make_dataset
from uavsim.images.events import EVENT, decode_events, encode_events
from uavsim.validate.findings import Finding
from uavsim.validate.validator import validate_version

CHANNEL = "CAMERA_FRONT_id_0"
SIZE_PX = (64, 36)


def events(*records: tuple[int, int, int, int]) -> np.ndarray:
    return np.array(list(records), EVENT)


GOOD = events((0, 0, -400_000_000, 1), (63, 35, -400_000_000, 0), (7, 9, 0, 1))
PLANTED_EVENTS = {
    "column outside": (events((64, 0, -5, 1)), "events.record"),
    "row outside": (events((0, 36, -5, 1)), "events.record"),
    "before the image before": (events((1, 1, -600_000_000, 1)), "events.record"),
    "after its own image": (events((1, 1, 1, 1)), "events.record"),
    "out of order": (events((1, 1, -5, 1), (1, 1, -6, 1)), "events.record"),
    "polarity": (events((1, 1, -5, 2)), "events.record"),
}
PLANTED = {"cut off": "events.file", **{name: code for name, (_, code) in PLANTED_EVENTS.items()}}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a clean dataset with events of the front camera: none for its first image, three for its second."""
    root = make_dataset(
        tmp_path_factory.mktemp("events") / "set", scenes=1, samples=2, sweeps=0, drones=1, size_px=SIZE_PX
    )
    (root / "events" / CHANNEL).mkdir(parents=True)
    tables = root / "v1.0-mini"
    layer = json.loads((tables / "layer.json").read_bytes())
    images = json.loads((tables / "sample_data.json").read_bytes())
    for number, row in enumerate(row for row in images if f"/{CHANNEL}/" in row["filename"]):
        name = f"events/{CHANNEL}/{Path(row['filename']).stem}.npy"
        (root / name).write_bytes(encode_events(GOOD if number else GOOD[:0]))
        layer.append({"token": f"{number:032x}", "sample_data_token": row["token"], "kind": "events", "filename": name})
    (tables / "layer.json").write_text(json.dumps(layer))
    return root


def found(root: Path, selects: Callable[[Finding], bool] = lambda f: f.code.startswith("events")) -> list[Finding]:
    return [finding for finding in validate_version(root, "v1.0-mini", workers=1).findings if selects(finding)]


def test_valid_events_have_no_finding(root: Path) -> None:
    assert found(root, lambda _: True) == []


@pytest.mark.parametrize("name", PLANTED_EVENTS)
def test_planted_defect_of_events_is_found(name: str, root: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    shutil.copytree(root, bad)
    planted, code = PLANTED_EVENTS[name]
    second = sorted((bad / "events" / CHANNEL).iterdir())[1]
    second.write_bytes(encode_events(planted))
    (finding,) = found(bad)
    assert finding.code == code
    assert second.name in finding.message


def test_an_event_of_a_first_image_has_no_image_before(root: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    shutil.copytree(root, bad)
    sorted((bad / "events" / CHANNEL).iterdir())[0].write_bytes(encode_events(events((1, 1, 0, 1))))
    assert [finding.code for finding in found(bad)] == ["events.record"]


@pytest.mark.parametrize(
    "spoil", [lambda data: data[:-1], lambda data: b"", lambda data: data.replace(b"t_ns", b"t_us")]
)
def test_invalid_event_file_is_found(spoil: Callable[[bytes], bytes], root: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    shutil.copytree(root, bad)
    second = sorted((bad / "events" / CHANNEL).iterdir())[1]
    second.write_bytes(spoil(second.read_bytes()))
    assert [finding.code for finding in found(bad)] == ["events.file"]


def test_the_fixture_is_what_is_written(root: Path) -> None:
    first, second = (decode_events(path) for path in sorted((root / "events" / CHANNEL).iterdir()))
    assert len(first) == 0
    np.testing.assert_array_equal(second, GOOD)
