"""Conversion of CARLA's objects, created by carla's classes without a server."""

from types import SimpleNamespace
from typing import Any

import carla
import numpy as np
import pytest

from uavsim.annotate.actors import size_of
from uavsim.errors import MissedTick
from uavsim.records.recording import ActorStates
from uavsim.simulate.carla.read import (
    NOTHING_PARKED,
    actor_info,
    lazy_states,
    rows_of,
    snapshot_rows,
    states_from_table,
    to_leave_behind,
)


def actor(centre: carla.Location, *, yaw_deg: float = 0.0) -> Any:
    box = carla.BoundingBox(centre, carla.Vector3D(1.1, 0.4, 0.75))
    box.rotation = carla.Rotation(yaw=yaw_deg)
    return SimpleNamespace(
        id=77,
        type_id="vehicle.yamaha.yzf",
        bounding_box=box,
        attributes={"base_type": "motorcycle"},
        semantic_tags=[18],
    )


def test_bounding_box_is_converted_to_the_actors_flu() -> None:
    info = actor_info(actor(carla.Location(0.5, 0.25, 0.75), yaw_deg=90.0), 3, kind="vehicle")
    np.testing.assert_array_equal(info.actor_SE3_box.translation_m, [0.5, -0.25, 0.75])  # ue's y is right, flu's left
    np.testing.assert_allclose(info.actor_SE3_box.rotate(np.array([1.0, 0, 0])), [0, -1, 0], atol=1e-12)
    assert info.half_extent_m == pytest.approx((1.1, 0.4, 0.75), abs=1e-6)


@pytest.mark.parametrize("bad", [float("inf"), float("nan")])
def test_non_finite_box_is_replaced_from_the_table(bad: float) -> None:
    info = actor_info(actor(carla.Location(0.0, bad, 0.75)), 3, kind="vehicle")
    assert np.isnan(info.half_extent_m).all()
    assert size_of(info)[2] == "table"


def test_states_are_computed_lazily_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[int] = []

    def counted(table: np.ndarray) -> ActorStates:
        computed.append(len(table))
        return states_from_table(table)

    monkeypatch.setattr("uavsim.simulate.carla.read.states_from_table", counted)
    table = np.array([[1.0, 10, 20, 0, 0, 0, 90, *[0.0] * 9]])
    states = lazy_states(table, NOTHING_PARKED)
    assert computed == []
    np.testing.assert_allclose(states().map_SE3_actor.translation_m, [[10, -20, 0]])  # ue's y is right, the map's left
    assert states() is states()
    assert computed == [1]


def test_replay_is_verified_without_access_to_the_states() -> None:
    def refuse(states: ActorStates) -> ActorStates:
        raise MissedTick(f"{len(states.instance_id)} actors elsewhere")

    with pytest.raises(MissedTick, match="1 actors elsewhere"):
        lazy_states(np.ones((1, 16)), NOTHING_PARKED, proven=[refuse])


class Snapshot(list[Any]):
    frame = 3


def snapshot_of(location: carla.Location, velocity: carla.Vector3D) -> Any:
    still = carla.Vector3D()
    actor = SimpleNamespace(
        id=7,
        get_transform=lambda: carla.Transform(location),
        get_velocity=lambda: velocity,
        get_angular_velocity=lambda: still,
        get_acceleration=lambda: still,
    )
    return Snapshot([actor])


def test_nan_pose_is_refused_with_its_actor() -> None:
    nan = carla.Location(x=float("nan"))
    with pytest.raises(MissedTick, match="tick 3: the pose of actor 2 is not a number"):
        rows_of(snapshot_of(nan, carla.Vector3D()), {7: 2}, captured=False)


def test_nan_velocity_matters_in_captured_ticks_only() -> None:
    snapshot = snapshot_of(carla.Location(), carla.Vector3D(x=float("nan")))
    assert rows_of(snapshot, {7: 2}, captured=False).shape == (1, 16)
    with pytest.raises(MissedTick):
        rows_of(snapshot, {7: 2}, captured=True)


def test_snapshot_rows() -> None:
    def reported(number: int) -> Any:
        vectors = [carla.Vector3D(*(number + 10 * k + i for i in range(3))) for k in range(3)]
        transform = carla.Transform(carla.Location(1.5, 2.5, number), carla.Rotation(pitch=1, yaw=2, roll=3))
        v, w, a = (lambda vector=vector: vector for vector in vectors)
        return SimpleNamespace(
            id=number, get_transform=lambda: transform, get_velocity=v, get_angular_velocity=w, get_acceleration=a
        )

    instance_of = {7: 2, 5: 1}
    rows = snapshot_rows([reported(7), reported(6), reported(5)], instance_of)
    assert rows[0].tolist() == [1, 1.5, 2.5, 5, 3, 1, 2, 5, 6, 7, 15, 16, 17, 25, 26, 27]
    assert rows[:, 0].tolist() == [1, 2]
    assert snapshot_rows([], {}).shape == (0, 16)


@pytest.mark.parametrize("rendering", [True, False])
def test_settings_to_restore(rendering: bool) -> None:
    found = carla.WorldSettings(synchronous_mode=False, no_rendering_mode=not rendering)
    assert to_leave_behind(found).no_rendering_mode is not rendering
    left = carla.WorldSettings(synchronous_mode=True, no_rendering_mode=True, fixed_delta_seconds=0.05)
    restored = to_leave_behind(left)
    assert (restored.synchronous_mode, restored.no_rendering_mode, restored.fixed_delta_seconds) == (False, False, None)
