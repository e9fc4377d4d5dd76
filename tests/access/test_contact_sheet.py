"""Layout of contact sheets."""

import pytest

from uavsim.access.contact_sheet import column_count


@pytest.mark.parametrize(
    ("cameras", "drones", "columns"), [(5, 5, 5), (1, 5, 5), (1, 9, 5), (2, 5, 4), (3, 5, 3), (6, 5, 6), (1, 1, 1)]
)
def test_contact_sheet_keeps_the_cameras_of_a_drone_in_one_row(cameras: int, drones: int, columns: int) -> None:
    assert column_count(cameras, cameras * drones) == columns
