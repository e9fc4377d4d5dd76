"""Export formats by name: built-in ones, and one of an installed third-party package."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.plugins import install_plugin, uavsim_with
from uavsim.cli import build_app
from uavsim.errors import UnknownNameError

BOXES_CSV = '''
from uavsim.exports.formats.text import write_text


def export_csv(request):
    """One line a box: category and place."""
    lines = [
        ",".join([name, *(f"{value:.3f}" for value in place)])
        for scene in request.scenes()
        for sample in scene
        for name, place in zip(sample.boxes.categories, sample.boxes.map_SE3_box.translation_m)
    ]
    return [write_text(request.out / f"{request.split_name}.csv", "\\n".join(lines) + "\\n")]
'''


def test_installed_package_adds_a_format(strict: Path, tmp_path: Path) -> None:
    site = install_plugin(
        tmp_path, "boxes_csv", group="uavsim.exporters", adds={"csv": "boxes_csv:export_csv"}, source=BOXES_CSV
    )

    output = uavsim_with(site, "export", str(strict), str(tmp_path / "out"), "--format", "csv", "--split", "uav_val")

    assert "uav_val.csv" in output.replace("\n", "")
    lines = (tmp_path / "out/uav_val.csv").read_text().splitlines()
    assert len(lines) > 10
    assert all(line.split(",")[0].startswith(("vehicle.", "human.")) for line in lines)


def test_command_exports_and_suggests_formats(strict: Path, tmp_path: Path) -> None:
    words = ["export", str(strict), str(tmp_path), "--format"]
    CliRunner().invoke(build_app("export"), [*words, "coco", "--split", "uav_val"], catch_exceptions=False)
    assert json.loads((tmp_path / "instances_uav_val.json").read_text())["images"]
    with pytest.raises(UnknownNameError, match="mmdet3d"):
        CliRunner().invoke(build_app("export"), [*words, "mmdet"], catch_exceptions=False)
