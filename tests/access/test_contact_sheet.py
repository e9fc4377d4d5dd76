"""Layout of contact sheets."""

import pytest

from uavsim.access.contact_sheet import column_count


@pytest.mark.parametrize(
    ("cameras", "drones", "columns"), [(5, 5, 5), (1, 5, 5), (1, 9, 5), (2, 5, 4), (3, 5, 3), (6, 5, 6), (1, 1, 1)]
)
def test_a_contact_sheet_puts_whole_drones_side_by_side(cameras: int, drones: int, columns: int) -> None:
    assert column_count(cameras, cameras * drones) == columns
