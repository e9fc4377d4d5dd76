"""Responsible-AI fields come from the dataset; fields of a dataset of unknown origin claim nothing."""

import json
from collections import Counter
from pathlib import Path

import uavsim
from uavsim.access import HEADLESS
from uavsim.access.origin import HEADLESS_LIMIT
from uavsim.exports.publish import PublishRequest, publish
from uavsim.exports.publish.card import card
from uavsim.exports.publish.statements import Facts, statements

RUN = {"dataset": "tiny", "seed": 7, "fingerprint": "ab12", "versions": {"uavsim": "0.1.0", "carla": "0.9.16"}}


def facts(**more: object) -> Facts:
    known = {"scenes": 2, "samples": 4, "images": 40, "boxes": 30, "simulators": Counter({"CARLA 0.9.16": 2})}
    return Facts("tiny", "v1.0-mini", **(known | more))  # type: ignore[arg-type]


def test_masks_and_degraded_images_are_reported_if_present() -> None:
    fields = statements(facts(masks=40, degraded=12), None)
    assert "40 instance masks" in fields.description
    assert "12 images have a second, degraded version" in fields.limitations
    fields = statements(facts(), None)
    assert "mask" not in fields.description
    assert "Images have no sensor noise" in fields.limitations


def test_run_is_described_by_its_certificate() -> None:
    run, labels = statements(facts(), RUN).generated_by
    assert "seed 7" in run[1]
    assert "client carla 0.9.16" in run[1]
    assert "Simulator: CARLA 0.9.16 (2 scenes)." in run[1]
    assert labels[0] == "annotation"


def test_a_dataset_of_unknown_origin_is_not_called_simulated(foreign: Path, tmp_path: Path) -> None:
    publish(uavsim.open(foreign), tmp_path / "pack", PublishRequest(name="theirs"))
    metadata = json.loads((tmp_path / "pack/croissant.json").read_text())
    assert metadata["rai:hasSyntheticData"] is False
    assert metadata["rai:personalSensitiveInformation"].startswith("Unknown.")
    assert "simulat" not in metadata["description"]
    assert "- synthetic" not in (tmp_path / "pack/README.md").read_text()


def test_one_scene_of_unknown_origin_makes_the_dataset_unknown() -> None:
    assert not statements(facts(simulators=Counter({"CARLA 0.9.16": 1, "": 1})), None).synthetic


def test_headless_images_are_not_offered_for_training() -> None:
    headless = facts(simulators=Counter({HEADLESS: 2}), topologies=Counter({"carla": 2}))
    fields = statements(headless, RUN | {"versions": {"carla": "0.9.16", "airsim": "1.8.1"}})
    assert fields.description.startswith(HEADLESS_LIMIT)
    assert HEADLESS_LIMIT in fields.limitations
    assert "training a detector" in fields.uses.partition("Not meant for:")[2]
    assert "airsim" not in " ".join(text for _, text in fields.generated_by)
    text = card(headless, fields, licence="mit", splits={"train": []}, certificate=None, shards=False, contents="00")
    head, _, body = text.partition("# tiny")
    assert body.strip().startswith(f"> **{HEADLESS_LIMIT}")
    assert "- headless-simulator\n- test-data\n" in head
    assert "- carla" not in head


def test_images_of_unreal_name_carla_and_its_version() -> None:
    fields = statements(facts(topologies=Counter({"bridge": 2})), RUN | {"versions": {"airsim": "1.8.1"}})
    assert fields.description.startswith("Images by CARLA 0.9.16. ")
    assert "pre-training" not in fields.uses
    assert "client airsim 1.8.1" in fields.generated_by[0][1]
