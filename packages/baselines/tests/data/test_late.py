from types import SimpleNamespace

import numpy as np
import pytest
import torch
from train_trials.toy import Toy, write_toy
from uavsim_baselines.config import Config, LateConfig
from uavsim_baselines.data.frames import Frame, read_frames
from uavsim_baselines.data.items import Images, sights_of, views_of
from uavsim_baselines.data.late import LateSights, sights_for

from tests.conftest import small


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Config:
    return small(write_toy(tmp_path_factory.mktemp("late"), Toy(scenes=2, samples=4, drones=3, size_px=(32, 18))))


@pytest.fixture
def frames(config: Config) -> list[Frame]:
    return read_frames(config.data, "uav_val")


def late(config: Config, frames: list[Frame], way: str, latency_ms: float) -> LateSights:
    choice = LateConfig.model_validate({"way": way, "latency_ms": [latency_ms, latency_ms]})
    sights = sights_for(frames, config.data.model_copy(update={"late": choice}))
    assert isinstance(sights, LateSights)
    return sights


def test_a_shifted_index_is_an_earlier_keyframe_of_that_age(config: Config, frames: list[Frame]) -> None:
    assert sights_for(frames, config.data) is sights_of
    period_us = frames[1].timestamp_us - frames[0].timestamp_us
    sights = late(config, frames, "shift", period_us / 1e3)
    assert not sights(frames[0], [0, 1])[1].present
    ego, other = sights(frames[2], [0, 1])
    assert (ego.cameras, ego.age_s) == (frames[2].cameras[0], 0.0)
    assert other.cameras == frames[1].cameras[1]
    assert other.age_s == pytest.approx(period_us / 1e6)
    assert torch.equal(other.map_T_flu, frames[1].map_T_flu[1])
    aged = views_of([ego, other], Images(config)).age_s
    assert aged.tolist() == pytest.approx([0.0, period_us / 1e6])


def test_in_a_scene_of_one_frame_nothing_is_older(config: Config, frames: list[Frame]) -> None:
    (other,) = late(config, frames[:1], "shift", 0.0)(frames[0], [0, 1])[1:]
    assert (other.cameras, other.age_s) == (frames[0].cameras[1], 0.0)
    assert not late(config, frames[:1], "shift", 100.0)(frames[0], [0, 1])[1].present


def test_by_clocks_it_is_what_the_ego_has_of_the_sender(
    config: Config, frames: list[Frame], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def known_at(timestamp_us: int, agent: str) -> dict[str, SimpleNamespace]:
        calls.append((timestamp_us, agent))
        return {"1": SimpleNamespace(images=frames[0].cameras[1][::-1], age_us=70_000)}

    sights = late(config, frames, "clocks", 100.0)
    monkeypatch.setattr(LateSights, "_scenes", {frames[0].scene: SimpleNamespace(known_at=known_at)})
    _, other, nobody = sights(frames[3], [0, 1, 2])
    assert calls == [(frames[3].timestamp_us - 100_000, "0")] * 2
    assert other.cameras == frames[0].cameras[1]
    assert other.age_s == pytest.approx(0.17)
    np.testing.assert_array_equal(other.map_T_flu, frames[0].map_T_flu[1])
    assert not nobody.present
