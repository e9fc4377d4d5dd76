import math

import pytest
import torch
from train_trials.toy import Toy, write_toy
from uavsim_baselines.config import Config
from uavsim_baselines.data.degraded import Degradation, DegradedSights
from uavsim_baselines.data.frames import Frame, read_frames
from uavsim_baselines.data.items import Images, sights_of, views_of
from uavsim_baselines.errors import BaselineError

from tests.conftest import small


@pytest.fixture(scope="module")
def agents(tmp_path_factory: pytest.TempPathFactory) -> Config:
    toy = Toy(scenes=2, samples=4, drones=3, size_px=(32, 18), agents=True)
    return small(write_toy(tmp_path_factory.mktemp("agents"), toy))


@pytest.fixture
def frames(agents: Config) -> list[Frame]:
    return read_frames(agents.data, "uav_val")


def test_nothing_of_it_is_the_truth(agents: Config, frames: list[Frame]) -> None:
    plain, degraded = (
        views_of(sights(frames[3], [1, 0, 2]), Images(agents))
        for sights in (sights_of, DegradedSights(frames, Degradation()))
    )
    for name in ("images", "grid_T_optical", "map_T_grid", "has_image", "present"):
        assert torch.equal(getattr(plain, name), getattr(degraded, name))


@pytest.mark.parametrize("share", [0.25, 1.0])
def test_others_believe_to_be_where_they_report_and_the_ego_where_it_is(frames: list[Frame], share: float) -> None:
    ego, other = DegradedSights(frames, Degradation(pose=share))(frames[0], [1, 2])
    assert torch.equal(ego.map_T_flu, frames[0].map_T_flu[1])
    moved = other.map_T_flu - frames[0].map_T_flu[2]
    torch.testing.assert_close(moved[:3, 3], torch.tensor([2.0 * share, 0.0, 0.0], dtype=torch.float64))
    torch.testing.assert_close(moved[:3, :3], torch.zeros(3, 3, dtype=torch.float64), atol=1e-12, rtol=0)


def test_a_reported_heading_turns_a_pose_by_a_share_of_the_way(frames: list[Frame]) -> None:
    camera = frames[0].cameras[2][0]
    true = frames[0].map_T_flu[2]
    wrong = math.atan2(float(true[1, 0]), float(true[0, 0])) + math.radians(10.0)
    camera.reported["reported_rotation"] = [math.cos(wrong / 2), 0.0, 0.0, math.sin(wrong / 2)]  # type: ignore[index]
    half = DegradedSights(frames, Degradation(pose=0.5))(frames[0], [0, 2])[1].map_T_flu
    turned = half[:3, :3] @ true[:3, :3].T
    assert math.degrees(math.atan2(float(turned[1, 0]), float(turned[0, 0]))) == pytest.approx(5.0)


def test_a_late_message_is_an_earlier_one_and_at_first_there_is_none(frames: list[Frame]) -> None:
    late = DegradedSights(frames, Degradation(latency=0.5))  # half of the second that messages take
    assert [late(frame, [0, 1])[1].present for frame in frames] == [False, True, True, True]
    ego, other = late(frames[2], [0, 1])
    assert ego.cameras == frames[2].cameras[0]
    assert other.cameras == frames[1].cameras[1]
    assert torch.equal(other.map_T_flu, frames[1].map_T_flu[1])


def test_a_lost_message_silences_a_drone_and_a_lost_image_blackens_any(agents: Config, frames: list[Frame]) -> None:
    messages, cameras = (DegradedSights(frames, case) for case in (Degradation(messages=1.0), Degradation(cameras=1.0)))
    lost = [bool(frame.cameras[index][0].reported["dropped"]) for frame in frames for index in range(3)]
    assert set(lost) == {True, False}
    heard = [messages(frame, [index, index])[1].present for frame in frames for index in range(3)]
    assert heard == [not missing for missing in lost]
    assert all(messages(frame, [index])[0].present for frame in frames for index in range(3))  # the ego hears itself
    has_image = [bool(views_of(cameras(f, [p]), Images(agents)).has_image) for f in frames for p in range(3)]
    assert has_image == heard


def test_a_larger_share_loses_what_a_smaller_one_loses_and_more(frames: list[Frame]) -> None:
    lost = [
        {(frame.number, p) for frame in frames for p in range(3) if DegradedSights(frames, case)(frame, [p])[0].lost[0]}
        for case in (Degradation(cameras=share) for share in (0.0, 0.3, 0.6, 1.0))
    ]
    assert lost[0] == set()
    assert lost[0] <= lost[1] <= lost[2] <= lost[3]
    assert len(lost[3]) == 6


def test_a_dataset_without_degradations_is_one_line(config: Config) -> None:
    with pytest.raises(BaselineError, match="has no table agent_view"):
        DegradedSights(read_frames(config.data, "uav_val"), Degradation(pose=1.0))


def test_kept_images_are_read_once(agents: Config, frames: list[Frame], monkeypatch: pytest.MonkeyPatch) -> None:
    keeping = agents.model_copy(update={"data": agents.data.model_copy(update={"keep_images": True})})
    images = Images(keeping)
    first = views_of(sights_of(frames[0], [0, 1]), images)
    monkeypatch.setattr(type(frames[0].cameras[0][0]), "pixels", None)
    assert torch.equal(views_of(sights_of(frames[0], [0, 1]), images).images, first.images)
    with pytest.raises(TypeError):
        views_of(sights_of(frames[0], [0]), Images(agents))
