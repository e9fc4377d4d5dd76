"""Sources of roads: a wrong name is invalid input for each of the three kinds."""

import pytest

from uavsim.cli.map_source import network_of
from uavsim.errors import InputError


def test_a_headless_town_is_found_by_its_name() -> None:
    network, name, _ = network_of("Town10HD")
    assert (name, network.name) == ("Town10HD", "Town10HD")
    assert network.roads


@pytest.mark.parametrize(
    ("target", "message"),
    [("Town97", "nearest is 'Town07'"), ("Town03.xodr", "No such file"), ("a/b", "HOST:PORT of a CARLA server")],
)
def test_what_is_not_there_is_bad_input(target: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        network_of(target)
