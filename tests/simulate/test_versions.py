"""Servers and clients of another CARLA are refused with what they lack."""

import pytest

from uavsim.errors import SimulatorError
from uavsim.simulate.versions import CLIENT_VERSION, refuse_other_client, refuse_other_server


@pytest.mark.parametrize("version", [CLIENT_VERSION, f"{CLIENT_VERSION}-dirty", f"{CLIENT_VERSION}-2-gabc"])
def test_builds_of_the_same_version_are_taken(version: str) -> None:
    refuse_other_server(version, where="127.0.0.1:2000")
    refuse_other_client(version, python="python3")


@pytest.mark.parametrize(
    ("version", "words"),
    [
        ("0.9.15", r"0\.9\.15 would give boxes without actor ids, instance masks"),
        ("0.10.0", r"0\.10\.0 would give .*no light manager"),
        ("0.9.160", r"the client speaks 0\.9\.16; start"),
        ("0.9.14", r"the client speaks 0\.9\.16; start carlasim/carla:0\.9\.16"),
    ],
)
def test_another_server_is_named_with_what_it_lacks(version: str, words: str) -> None:
    with pytest.raises(SimulatorError, match=words):
        refuse_other_server(version, where="127.0.0.1:2000")


def test_another_client_is_informed_how_to_get_the_right_one() -> None:
    with pytest.raises(SimulatorError, match=r"/opt/x/python -m pip install carla==0\.9\.16"):
        refuse_other_client("0.9.15", python="/opt/x/python")
