import json
from pathlib import Path

import pytest
import torch
from uavsim_baselines.config import Config
from uavsim_baselines.data.frames import read_frames
from uavsim_baselines.errors import BaselineError, OutOfMemory
from uavsim_baselines.runs import predict_run, prediction_setup
from uavsim_baselines.sharing import SHARING
from uavsim_baselines.training.checkpoints import read_checkpoint
from uavsim_baselines.training.memory import with_memory_reported
from uavsim_baselines.training.train import learning_rate, train

from tests.conftest import small
from uavsim import UavsimError


def steps(config: Config, number: int) -> Config:
    return config.model_copy(update={"training": config.training.model_copy(update={"steps": number})})


def weights(path: Path) -> dict[str, torch.Tensor]:
    return read_checkpoint(path).model


class _Stop(Exception):
    pass


def test_an_interrupted_training_ends_in_the_same_weights(toy: Path, tmp_path: Path) -> None:
    config = small(toy, kind="where2comm")
    uninterrupted = train(config, tmp_path / "whole")

    def stop(step: int, _loss: float) -> None:
        if step == 3:  # the checkpoint of step 2 is there
            raise _Stop

    with pytest.raises(_Stop):
        train(config, tmp_path / "cut", report=stop)
    assert read_checkpoint(tmp_path / "cut" / "checkpoint.pt").step == 2
    cut = train(config, tmp_path / "cut")
    for name, value in weights(uninterrupted).items():
        torch.testing.assert_close(weights(cut)[name], value, atol=0, rtol=0)
    assert list((tmp_path / "cut" / "logs").glob("events*"))


def test_another_seed_ends_elsewhere(config: Config, tmp_path: Path) -> None:
    first = weights(train(config, tmp_path / "a"))
    second = weights(train(config.model_copy(update={"seed": 1}), tmp_path / "b"))
    assert any(not torch.equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("kind", list(SHARING))
def test_every_way_to_share_trains_and_predicts(kind: str, toy: Path, tmp_path: Path) -> None:
    losses: list[float] = []
    train(steps(small(toy, kind=kind), 2), tmp_path, report=lambda _step, loss: losses.append(loss))
    assert len(losses) == 2
    setup = prediction_setup(tmp_path)
    path = predict_run(setup, read_frames(setup.config.data, "uav_val"), tmp_path)
    content = json.loads(path.read_text())
    assert len(content["results"]) == 2
    about = content["meta"]
    assert about["sharing"] == kind
    assert (about["bytes_per_frame"] > 0) == (kind not in {"none"})
    assert {p.name for p in tmp_path.glob("tracks_*")} == {"tracks_greedy.json", "tracks_kalman.json"}


def test_a_student_learns_from_a_teacher_with_all_images(toy: Path, tmp_path: Path) -> None:
    teacher = train(steps(small(toy, kind="early"), 1), tmp_path / "teacher")
    student = small(toy, kind="disconet", teacher=str(teacher))
    losses: list[float] = []
    train(steps(student, 1), tmp_path / "with", report=lambda _s, loss: losses.append(loss))
    train(steps(small(toy, kind="disconet"), 1), tmp_path / "without", report=lambda _s, loss: losses.append(loss))
    assert losses[0] > losses[1]  # the teacher's part is never negative, and two networks are not alike
    wrong = train(steps(small(toy), 1), tmp_path / "wrong")
    with pytest.raises(BaselineError, match="must be a model with sharing early, this one has none"):
        train(small(toy, kind="disconet", teacher=str(wrong)), tmp_path / "refused")


def test_what_is_trained_is_not_read_again(toy: Path, tmp_path: Path) -> None:
    config = steps(small(toy), 1)
    path = train(config, tmp_path / "run")
    gone = config.model_copy(update={"data": config.data.model_copy(update={"folder": tmp_path / "gone"})})
    assert train(gone, tmp_path / "run") == path
    with pytest.raises(UavsimError, match="gone"):
        train(steps(gone, 2), tmp_path / "run")


def test_a_checkpoint_of_another_model_is_refused_in_one_line(toy: Path, tmp_path: Path) -> None:
    train(steps(small(toy), 1), tmp_path)
    with pytest.raises(BaselineError, match=r"another model: sharing.kind differs"):
        train(small(toy, kind="early"), tmp_path)
    (tmp_path / "checkpoint.pt").write_bytes(b"no checkpoint")
    with pytest.raises(BaselineError, match="not a checkpoint of uavsim-baselines, or damaged"):
        train(small(toy), tmp_path)
    with pytest.raises(BaselineError, match="run uavsim-baselines train first"):
        prediction_setup(tmp_path / "nowhere")


@pytest.mark.parametrize("wrong", ["gone", None, 7, "[]", [1], {"x": 1}, torch.ones(2)])
def test_every_damaged_part_of_a_checkpoint_is_one_line(wrong: object, toy: Path, tmp_path: Path) -> None:
    path = train(steps(small(toy), 1), tmp_path)
    content = torch.load(path, weights_only=True)
    for key in content:
        damaged = {**content, key: wrong}
        if wrong == "gone":
            del damaged[key]
        if key == "step" and isinstance(wrong, int):
            continue  # a step like any other
        torch.save(damaged, path)
        with pytest.raises(BaselineError) as error:
            train(steps(small(toy), 9), tmp_path)
        assert str(error.value).startswith(f"{path}: ")
        assert "\n" not in str(error.value)


def test_boxes_are_shared_by_a_model_that_was_trained_alone_and_images_are_not(toy: Path, tmp_path: Path) -> None:
    train(steps(small(toy), 1), tmp_path)
    assert prediction_setup(tmp_path, sharing="late").config.sharing.kind == "late"
    with pytest.raises(BaselineError, match="trained with sharing none and cannot predict with early"):
        prediction_setup(tmp_path, sharing="early")
    with pytest.raises(BaselineError, match="for where2comm"):
        prediction_setup(tmp_path, threshold=0.5)


def test_the_rate_rises_then_falls(config: Config) -> None:
    long = config.model_copy(update={"training": config.training.model_copy(update={"steps": 100, "warmup_steps": 10})})
    rates = [learning_rate(long, step) for step in range(100)]
    assert rates.index(max(rates)) == 10
    assert rates[:10] == sorted(rates[:10])
    assert rates[10:] == sorted(rates[10:], reverse=True)
    assert rates[-1] < 0.02 * max(rates)


def test_too_little_memory_names_the_settings_that_help(config: Config) -> None:
    with (
        pytest.raises(OutOfMemory, match=r"training.batch, data.size_px or grid.cells"),
        with_memory_reported(config, device=torch.device("cpu")),
    ):
        torch.empty(1 << 60)
    with pytest.raises(RuntimeError, match="of ours"), with_memory_reported(config, device=torch.device("cpu")):
        raise RuntimeError("of ours")
