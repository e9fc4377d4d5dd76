"""The server, its clock, settings, recording and start."""

import json
from dataclasses import replace

import pytest

from tests.airsim.conftest import hang
from tests.airsim.paper_world import PaperHost


def test_reset_returns_to_the_start_without_api_control(serve, connect) -> None:
    client = connect(serve())
    hang(client)
    task = client.moveToPositionAsync(50, 0, -50, 1)
    client.reset()
    assert task.get() is False
    assert client.getMultirotorState().kinematics_estimated.position.z_val == pytest.approx(-0.1465, abs=1e-6)
    assert not client.isApiControlEnabled()


def test_settings_string_is_returned(serve, connect) -> None:
    client = connect(serve({"ClockSpeed": 2}))
    assert json.loads(client.getSettingsString())["ClockSpeed"] == 2


def test_recording(serve, connect, tmp_path) -> None:
    client = connect(serve({"Recording": {"Folder": str(tmp_path / "rec"), "RecordInterval": 0.01}}))
    client.startRecording()
    assert client.isRecording()
    client.stopRecording()
    assert not client.isRecording()
    (recorded,) = (tmp_path / "rec").glob("*/airsim_rec.txt")
    lines = recorded.read_text().splitlines()
    assert lines[0].split("\t")[:3] == ["VehicleName", "TimeStamp", "POS_X"]
    assert len(lines) >= 2


def test_default_recording_folder_is_airsims(serve, connect, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    client = connect(serve())
    client.startRecording()
    client.stopRecording()
    (recorded,) = (tmp_path / "Documents" / "AirSim").glob("*/airsim_rec.txt")
    assert len(recorded.read_text().splitlines()) >= 2


def test_recording_does_not_overwrite_files(serve, connect, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("time.strftime", lambda _form: "now")
    client = connect(serve({"Recording": {"Folder": str(tmp_path)}}))
    (tmp_path / "now").mkdir()
    (tmp_path / "now" / "airsim_rec.txt").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Exception, match="cannot record into"):
        client.startRecording()
    assert not (tmp_path / "elsewhere").exists()


def test_vehicle_without_collisions_falls_through_the_ground(serve, connect) -> None:
    client = connect(serve({"Vehicles": {"A": {"EnableCollisions": False}}}))
    client.simPause(True)
    client.simContinueForTime(1)
    assert client.getMultirotorState().kinematics_estimated.position.z_val > 3, "nothing stops it"


def test_loading_another_town_resets_vehicles_and_objects(serve, connect) -> None:
    host = PaperHost()
    client = connect(serve({"Vehicles": {"A": {"X": 1}}}, host=host))
    hang(client)
    task = client.moveToPositionAsync(50, 0, -50, 1)
    client.simSetSegmentationObjectID(".*", 9, True)
    tower = replace(host.town.objects[0], name="Tower_1", object_id=5)
    host.town = replace(host.town, name="Other", objects=(tower,))

    assert "Tower_1" in client.simListSceneObjects("T.*")

    assert client.simListSceneObjects("Building.*") == []
    assert client.simGetSegmentationObjectID("Tower_1") == (5 + sum(map(ord, "tower"))) % 256
    assert task.get() is False
    assert client.getMultirotorState().kinematics_estimated.position.z_val == pytest.approx(-0.1465, abs=1e-6)
