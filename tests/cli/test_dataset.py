"""Commands ``uavsim annotate`` and ``convert``."""

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.dataset_factory import files_of, write_log
from tools.common.factories import make_recording
from uavsim.cli import build_app
from uavsim.dataset.tables import read_rows
from uavsim.errors import InputError


def run(*words: object) -> Result:
    result = CliRunner().invoke(build_app(), [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_log(make_recording(tmp_path_factory.mktemp("raw"), samples=2, drones=1, size_px=(64, 36)))


def test_a_recording_becomes_a_dataset(raw: Path, tmp_path: Path) -> None:
    run("annotate", raw, "--out", tmp_path / "all")
    run("annotate", raw, "--out", tmp_path / "cars", "--classes", "car, bus", "--range-m", 50)
    everything, cars = (read_rows(tmp_path / name / "v1.0-mini/instance.json") for name in ("all", "cars"))
    assert {row["uav_label"] for row in cars} == {"car", "bus"}
    assert {row["uav_label"] for row in everything} > {"pedestrian", "bicycle"}
    for row in read_rows(tmp_path / "all/v1.0-mini/sample_data.json"):
        assert (tmp_path / "all" / row["filename"]).is_file()
    with pytest.raises(InputError, match="--out"):
        run("annotate", raw)
    with pytest.raises(InputError, match="is not empty"):
        run("annotate", raw, "--out", tmp_path / "all")
    with pytest.raises(InputError, match="neither a recording"):
        run("annotate", tmp_path)


def test_convert_both_ways_with_infos(strict: Path, tmp_path: Path) -> None:
    run("convert", strict, tmp_path / "b", "--dialect", "uav3d")
    assert (tmp_path / "b/uav3d_infos_train.pkl").is_file()
    assert (tmp_path / "b/uav3d_infos_val.pkl").is_file()
    run("convert", tmp_path / "b", tmp_path / "a", "--dialect", "strict")
    assert files_of(tmp_path / "a") == files_of(strict)
    run("convert", strict, tmp_path / "c", "--dialect", "uav3d", "--no-infos", "--timestamp-unit", "ns")
    assert not list((tmp_path / "c").glob("*.pkl"))


def test_a_rig_without_a_view_of_the_ground_is_refused_before_a_write(strict: Path, tmp_path: Path) -> None:
    source = tmp_path / "ahead"
    shutil.copytree(strict, source)
    table = source / "v1.0-mini/sensor.json"
    renamed = [{**row, "channel": row["channel"].replace("BOTTOM", "AHEAD")} for row in read_rows(table)]
    table.write_text(json.dumps(renamed))
    with pytest.raises(
        InputError,
        match=r"sensor\.json: the rig has no camera CAMERA_BOTTOM_id_0.*convert only the tables with --no-infos",
    ):
        run("convert", source, tmp_path / "out", "--dialect", "uav3d")
    assert not (tmp_path / "out").exists()
