import math
from pathlib import Path

import pytest
import torch
from uavsim_baselines.bev.maps import HeadMaps, decode
from uavsim_baselines.config import Config
from uavsim_baselines.data.frames import read_frames
from uavsim_baselines.data.items import BatchPlan, Items, collate
from uavsim_baselines.errors import BaselineError

import uavsim


def test_frames_have_the_truth_of_the_dataset(config: Config, toy: Path) -> None:
    frames = read_frames(config.data, "uav_train")
    sample = uavsim.open(toy).scene("scene_0").samples[1]
    assert [frame.number for frame in frames] == [0, 1]
    assert frames[1].token == sample.token
    assert frames[1].drones == (0, 1)
    torch.testing.assert_close(
        frames[1].boxes.centre_m, torch.from_numpy(sample.boxes.map_SE3_box.translation_m.copy())
    )
    assert frames[1].boxes.label.tolist() == [0, 0, 0]


@pytest.mark.parametrize("ego", [0, 1])
def test_targets_of_every_ego_are_the_boxes_in_its_grid(config: Config, ego: int) -> None:
    frames = read_frames(config.data, "uav_train")
    item = Items(frames, config)[0, ego, 0]
    logits = torch.logit(item.heat.clamp(1e-6, 1 - 1e-6))[None]
    grid = Items(frames, config).grid
    found = decode(HeadMaps(logits, item.values[None]), grid=grid, min_score=0.9, max_boxes=9)[0]
    # the drone's heading turns its grid; distances from below it do not change
    truth = frames[0].boxes
    apart = (truth.centre_m[:, :2] - frames[0].map_T_flu[ego, :2, 3]).norm(dim=-1)
    torch.testing.assert_close(
        found.centre_m[:, :2].norm(dim=-1).sort().values, apart.sort().values, atol=1e-4, rtol=1e-4
    )
    yaw = math.atan2(float(frames[0].map_T_flu[ego, 1, 0]), float(frames[0].map_T_flu[ego, 0, 0]))
    headings = [torch.remainder(rad, 2 * math.pi).sort().values for rad in (found.yaw_rad, truth.yaw_rad - yaw)]
    torch.testing.assert_close(*headings, atol=1e-4, rtol=1e-4)


def test_images_are_the_datasets_and_shrink_with_their_cameras(config: Config) -> None:
    frames = read_frames(config.data, "uav_train")
    full = Items(frames, config)[1, 0, 1].views
    assert full.images.shape == (1, 1, 3, 18, 32)
    half = config.model_copy(update={"data": config.data.model_copy(update={"size_px": (16, 9)})})
    small = Items(frames, half)[1, 0, 1].views
    assert small.images.shape == (1, 1, 3, 9, 16)
    torch.testing.assert_close(small.intrinsics[..., :2, :], full.intrinsics[..., :2, :] / 2)
    assert abs(small.images.float().mean() - full.images.float().mean()) < 1.0


def test_batches_follow_from_seed_and_step_alone_and_use_every_frame(config: Config) -> None:
    frames = read_frames(config.data, "uav_train")
    batches = list(BatchPlan(frames, config, first_step=0))
    assert list(BatchPlan(frames, config, first_step=2)) == batches[2:]
    assert all({number for number, _, _ in batch} == {0, 1} for batch in batches)  # two frames, batches of two
    other = list(BatchPlan(frames, config.model_copy(update={"seed": 1}), first_step=0))
    assert other != batches


def test_the_control_has_every_frame_with_another_scenes_boxes(config: Config) -> None:
    training = config.training.model_copy(update={"shuffled_labels": True})
    control = config.model_copy(update={"training": training})
    frames = [*read_frames(config.data, "uav_train"), *read_frames(config.data, "uav_val")]
    drawn = [key for batch in BatchPlan(frames, control, first_step=0) for key in batch]
    assert {frames[number].scene for number, _, _ in drawn} == {"scene_0", "scene_1"}
    assert all(frames[number].scene != frames[labelled].scene for number, _, labelled in drawn)
    with pytest.raises(BaselineError, match="needs two scenes"):
        BatchPlan(frames[:2], control, first_step=0)


def test_a_batch_stacks(config: Config) -> None:
    items = Items(read_frames(config.data, "uav_train"), config)
    batch = collate([items[0, 0, 0], items[1, 1, 1]])
    assert batch.views.images.shape == (2, 1, 1, 3, 18, 32)
    assert batch.heat.shape == (2, 1, 8, 8)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"train_split": "nope"}, r"no split 'nope' \(splits: uav_train, uav_val\)"),
        ({"drones": (0, 7)}, r"no images of drone 7 \(it has drones 0, 1\); set data.drones"),
        (
            {"cameras": ("CAMERA_FRONT",)},
            r"drone 0 has no camera CAMERA_FRONT \(it has CAMERA_BOTTOM\); set data.cameras",
        ),
    ],
)
def test_a_dataset_that_does_not_fit_is_one_line(config: Config, change: dict, says: str) -> None:
    data = config.data.model_copy(update=change)
    with pytest.raises(BaselineError, match=says):
        read_frames(data, data.train_split)
