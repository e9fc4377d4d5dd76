"""Damaged, incomplete and third-party datasets: one line names missing parts, and the rest is shown."""

import shutil
from pathlib import Path

import pytest

import uavsim
from uavsim.errors import DatasetError, InputError
from uavsim.exports.publish import PublishRequest, publish
from uavsim.exports.publish.certificate import read_certificate
from uavsim.viewing.report import ReportRequest, write_report
from uavsim.viewing.view import ViewRequest, write_recording


@pytest.fixture
def copy(strict: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(strict, tmp_path / "copy"))


@pytest.mark.parametrize(
    "table", ["category", "instance", "sample_annotation", "visibility", "attribute", "map", "log"]
)
def test_dataset_without_a_table_is_shown_and_published(copy: Path, tmp_path: Path, table: str) -> None:
    (copy / f"v1.0-mini/{table}.json").unlink()
    data = uavsim.open(copy)
    assert table in data.missing
    summary = write_recording(data, tmp_path / "a.rrd", ViewRequest(most_samples=3, image_width_px=40))
    assert (summary.samples, summary.images) == (3, 30)
    assert any(f"no {table}.json" in note for note in summary.notes)
    write_report(uavsim.open(copy), tmp_path / "report.html", ReportRequest())
    assert f"no table {table}" in (tmp_path / "report.html").read_text("utf-8")
    done = publish(uavsim.open(copy), tmp_path / "pack", PublishRequest())
    assert done.rows == 40


def test_damaged_images_are_left_out_and_not_published(copy: Path, tmp_path: Path) -> None:
    for path in (copy / "samples/CAMERA_FRONT_id_0").iterdir():
        path.write_bytes(b"no image")
    summary = write_recording(uavsim.open(copy), tmp_path / "a.rrd", ViewRequest(image_width_px=40))
    assert summary.images == 36
    assert "4 images are missing or unreadable and not shown" in summary.notes
    assert write_report(uavsim.open(copy), tmp_path / "report.html", ReportRequest(check=False)) > 10_000
    with pytest.raises(DatasetError, match=r"CAMERA_FRONT_id_0.*neither PNG nor JPEG"):
        publish(uavsim.open(copy), tmp_path / "pack", PublishRequest())


def test_version_folder_is_not_a_dataset(strict: Path) -> None:
    with pytest.raises(DatasetError, match="this is a version folder; give its parent folder"):
        uavsim.open(strict / "v1.0-mini")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"creator": " "}, "--creator is empty"),
        ({"url": "my lab"}, "--url 'my lab' is not a web address"),
        ({"date": "yesterday"}, "--date 'yesterday' is not a date"),
    ],
)
def test_invalid_publish_options_are_refused(strict: Path, tmp_path: Path, wrong: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        publish(uavsim.open(strict), tmp_path / "pack", PublishRequest(**wrong))  # type: ignore[arg-type]
    assert not (tmp_path / "pack").exists()


def test_missing_card_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the card cannot be read: .*README.md: cannot be read: No such file"):
        read_certificate(tmp_path)
