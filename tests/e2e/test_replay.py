"""A flight shown again, from the command line, against the headless simulator."""

from pathlib import Path

from tests.e2e.command import uavsim
from tests.e2e.test_main_job import RIG
from tools.common.leftovers import dataset_files
from tools.common.small_dataset import one_scene


def test_a_replay_is_the_same_bytes_and_without_an_actor_only_that_is_missing(tmp_path: Path) -> None:
    (tmp_path / "rig.yaml").write_text(RIG)
    source, again, less = tmp_path / "source", tmp_path / "again", tmp_path / "less"
    done = uavsim("generate", *one_scene(2), "--rig", str(tmp_path / "rig.yaml"), "--out", source)
    assert done.returncode == 0, done.stdout + done.stderr
    done = uavsim("replay", source, "--out", again, "--no-check")  # equal bytes need no second check
    assert done.returncode == 0, done.stdout + done.stderr
    assert dataset_files(again) == dataset_files(source)
    done = uavsim("replay", again, "--out", less, "--hide", "3", "--weather", "night")  # a replay has a recording, too
    assert done.returncode == 0, done.stdout + done.stderr
    assert dataset_files(less).keys() == dataset_files(source).keys()
    assert all(
        digest != dataset_files(source)[key]
        for key, digest in dataset_files(less).items()
        if key.startswith("samples/CAM")
    )
    wrong = uavsim("replay", tmp_path, "--out", tmp_path / "new")
    assert wrong.returncode == 2
    assert len(wrong.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "new").exists()
    skin = 'textures: [{objects: ["Building*"]}]\nvehicle_colours: {}\nsun_altitude_deg: [20, 20]\n'
    (tmp_path / "mine.yaml").write_text(skin)
    done = uavsim("twins", source, "--out", tmp_path / "twins", "--skin", str(tmp_path / "mine.yaml"))
    assert done.returncode == 0, done.stdout + done.stderr
    before, dressed = dataset_files(source), dataset_files(tmp_path / "twins/skin-mine-0")
    assert set(dressed) - set(before) == {"v1.0-mini/skin.json"}
    same = {key for key in before if dressed[key] == before[key]}
    assert {key for key in before if key.startswith("masks/")} <= same
    assert not {key for key in before if key.startswith("samples/CAM")} & same
