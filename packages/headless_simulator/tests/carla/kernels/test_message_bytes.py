import numpy as np
from headless_simulator.carla.kernels.message_bytes import find_rows, take_over_controls
from hypothesis import given
from hypothesis import strategies as st


def test_last_control_wins_and_gear_needs_manual_mode() -> None:
    rows = np.array([2, 0, 2])
    controls = np.array([
        [0.5, -0.25, 0.0, 1.0, 0.0, 1.0, 99.0],
        [1.0, 0.0, 0.0, 0.0, 1.0, 1.0, -7.0],
        [0.0, 0.125, 1.0, 0.0, 0.0, 0.0, 3.0],
    ])  # fmt: skip
    control, gear = np.zeros((3, 3)), np.full(3, 2, np.int32)
    hand_brake, reverse, manual, control_set = (np.zeros(3, np.uint8) for _ in range(4))

    take_over_controls(rows, controls, control, (hand_brake, reverse, manual, control_set), gear)

    assert control.tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.125, 1.0]]
    assert gear.tolist() == [-1, 2, 10]
    assert [a.tolist() for a in (hand_brake, reverse, manual, control_set)] == [
        [0, 0, 0],
        [1, 0, 0],
        [1, 0, 0],
        [1, 0, 1],
    ]


IDS = np.array([40, 10, 0, 30, 20], np.uint32)  # by row; the third row is free
KNOWN = np.array([1, 4, 3, 0])


def found(*ids: int) -> list[int] | None:
    rows = np.full(len(ids), -1)
    return rows.tolist() if find_rows(np.array(ids, np.uint32), KNOWN, IDS, rows) else None


def test_actors_are_found_in_any_order() -> None:
    assert found(10, 20, 30, 40) == [1, 4, 3, 0]
    assert found(40, 10, 10, 30, 20) == [0, 1, 1, 3, 4]
    assert found() == []


@given(st.lists(st.sampled_from([10, 20, 30, 40]) | st.integers(0, 50), max_size=8))
def test_missing_actor_is_reported(ids: list[int]) -> None:
    rows = dict(zip(IDS.tolist(), range(5), strict=True))
    expected = [rows[number] for number in ids] if set(ids) <= {10, 20, 30, 40} else None

    assert found(*ids) == expected
