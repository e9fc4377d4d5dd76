import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from train_trials.toy import Toy, write_toy
from uavsim_baselines import airground
from uavsim_baselines.bev.grid import map_T_grid
from uavsim_baselines.config import Config
from uavsim_baselines.data.frames import read_frames
from uavsim_baselines.data.items import Images, Items, collate, drones_heard, sights_of, views_of
from uavsim_baselines.detector.network import Detector
from uavsim_baselines.errors import BaselineError
from uavsim_baselines.runs import prediction_setup
from uavsim_baselines.training.predict import predict
from uavsim_baselines.training.train import train

from tests.conftest import small

TOY = Toy(scenes=2, samples=2, drones=3, cars=1, size_px=(32, 18), agents=True)


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Config:
    return small(write_toy(tmp_path_factory.mktemp("mixed"), TOY), kind="v2vnet")


def hearing(config: Config, hears: str, **sharing: str) -> Config:
    parts = {"training": config.training.model_copy(update={"hears": hears})}
    return config.model_copy(update=parts | {"sharing": config.sharing.model_copy(update=sharing)})


def test_cars_stand_beside_drones_with_cameras_and_boxes_of_their_own(mixed: Config) -> None:
    frame = read_frames(mixed.data, "uav_train")[0]
    assert frame.drones == (0, 1, "v0")
    assert [len(cameras) for cameras in frame.cameras] == [1, 1, 2]
    assert any("v0" in viewers for viewers in frame.seen_by)
    of_car = sum("v0" in viewers for viewers in frame.seen_by)
    assert len(frame.boxes_for(["v0"])) == of_car
    assert len(frame.boxes_for([0, 1, "v0"])) == sum(bool(viewers) for viewers in frame.seen_by)
    assert drones_heard(frame.drones, 2) == [2, 0, 1]
    assert drones_heard(frame.drones, 0, ("air",)) == [0, 1]
    assert drones_heard(frame.drones, 2, ("ground",)) == [2]


@pytest.mark.parametrize("kind", ["none", "early", "v2vnet"])
def test_cameras_that_others_lack_change_nothing(mixed: Config, kind: str) -> None:
    config = hearing(mixed, "all", kind=kind)
    frame = read_frames(config.data, "uav_train")[0]
    images, detector = Images(config), Detector(config).eval()
    sights = sights_of(frame, [0, 1])  # drones alone have a camera each
    found = [
        detector(collate([replace(Items([frame], config)[0, 0, 0], views=views_of(sights, images, cameras=n))]).views)
        for n in (0, 3)
    ]
    torch.testing.assert_close(found[0].maps.heat, found[1].maps.heat)
    assert torch.equal(found[0].sent_bytes, found[1].sent_bytes)


@pytest.mark.parametrize("kind", ["early", "v2vnet"])
def test_a_model_learns_from_those_that_are_heard_and_what_they_see(mixed: Config, kind: str) -> None:
    frames = read_frames(mixed.data, "uav_train")
    every = Items(frames, hearing(mixed, "all", kind=kind))
    assert bool(every[0, 0, 0].views.present.all())
    by_chance = Items(frames, hearing(mixed, "any", kind=kind))
    heard = {
        (number, ego): by_chance[number, ego, number].views.present.tolist() for number in range(2) for ego in range(3)
    }
    assert all(present[0] for present in heard.values())
    assert len({tuple(present) for present in heard.values()}) > 1
    for (number, ego), present in heard.items():
        order = [ego, *(index for index in range(3) if index != ego)]
        agents = [frames[number].drones[index] for index, is_heard in zip(order, present, strict=True) if is_heard]
        boxes = frames[number].boxes_for(agents)
        inside = by_chance.grid.holds(
            (boxes.centre_m - map_T_grid(frames[number].map_T_flu[ego])[:3, 3])[:, :2]
            @ map_T_grid(frames[number].map_T_flu[ego])[:2, :2]
        )
        assert int(by_chance[number, ego, number].weights[0].sum()) <= int(inside.sum())
        assert bool(inside.any()) == bool(by_chance[number, ego, number].weights.any())


def test_an_ego_that_hears_nobody_finds_the_same_whoever_else_is_there(mixed: Config) -> None:
    config = hearing(mixed, "all")
    frames = read_frames(config.data, "uav_val")
    detector = Detector(config)
    device = torch.device("cpu")
    alone = list(predict(detector, config, frames, device=device, ego="v0", hears=()))
    ground = list(predict(detector, config, frames, device=device, ego="v0", hears=("ground",)))
    both = list(predict(detector, config, frames, device=device, ego="v0"))
    for one, other in zip(alone, ground, strict=True):  # it is the only one on the ground
        torch.testing.assert_close(one.boxes.centre_m, other.boxes.centre_m)
        assert one.sent_bytes == other.sent_bytes == 0
    assert all(p.sent_bytes > 0 for p in both)


def test_a_table_says_what_each_side_adds(mixed: Config, tmp_path: Path) -> None:
    rows = []
    for kind in ("none", "v2vnet"):
        train(hearing(mixed, "any", kind=kind), tmp_path / kind)
        setup = prediction_setup(tmp_path / kind)
        progress: list[int] = []
        rows += airground.measure_sides(
            setup, read_frames(mixed.data, "uav_val"), tmp_path / kind, report=progress.append
        )
        assert progress == list(range(1, 1 + len(progress)))
    assert [(row.ego, row.sharing, len(row.ap)) for row in rows] == [
        (0, "none", 1), ("v0", "none", 1), (0, "v2vnet", 3), ("v0", "v2vnet", 3),
    ]  # fmt: skip
    car = rows[3]
    assert car.adds["air"]["value"] == pytest.approx(car.ap["both"]["value"] - car.ap["ground"]["value"])
    assert car.adds["ground"]["value"] == pytest.approx(car.ap["both"]["value"] - car.ap["air"]["value"])
    lines = airground.write_sides(tmp_path, rows).splitlines()
    assert "air adds to ground" in lines[0]
    assert [line.split(" ")[1] for line in lines[2:]] == ["drone", "drone", "car", "car"]
    assert len(json.loads((tmp_path / "airground.json").read_text())["rows"]) == 4


def test_agents_on_one_side_alone_are_refused(config: Config) -> None:
    with pytest.raises(BaselineError, match="needs agents in the air and on the ground"):
        airground.egos_of(read_frames(config.data, "uav_val"))
