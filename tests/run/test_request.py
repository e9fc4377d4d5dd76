"""Parsing of requests; invalid values are refused in one line."""

import pytest

from uavsim.config.run import RunConfig, parse_simulator
from uavsim.errors import InputError
from uavsim.run.request import Request


def test_simulators() -> None:
    assert parse_simulator("mock").kind == "mock"
    both = parse_simulator("sim-1.lab:2000:41451")
    assert (both.kind, both.host, both.ports) == ("attach", "sim-1.lab", {"carla": 2000, "airsim": 41451})
    assert parse_simulator("127.0.0.1:2000").ports == {"carla": 2000}
    assert parse_simulator("127.0.0.1:paper=7000:carla=2000").ports == {"paper": 7000, "carla": 2000}
    assert parse_simulator("[::1]:2000").host == "::1"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "mok",
        "host",
        "host:",
        "host:0",
        "host:99999",
        "host:1:2:3",
        "h:carla=1:carla=2",
        "h:65534",
        "a b:2000",
        ":2000",
        "h:2000:0",
    ],
)
def test_invalid_simulators_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="HOST:CARLA_PORT"):
        parse_simulator(text)


def test_a_dataset_is_called_by_its_name_wherever_its_file_lies() -> None:
    assert Request(dataset="smoke", out="o", towns=("Town03",)).title == "smoke Town03 all"
    assert Request(dataset="flight_plans/datasets/long.yaml", out="o", scenes="0-3").title == "long all towns 0-3"


def test_named_simulators_replace_those_of_the_run() -> None:
    run = RunConfig(attempts=7)
    request = Request(dataset="smoke", out="o", simulators=("mock", "h:2000"), run=run)
    assert [s.kind for s in request.run_config().simulators] == ["mock", "attach"]
    assert request.run_config().attempts == 7
    assert Request(dataset="smoke", out="o", run=run).run_config() == run


def test_a_run_survives_prefects_json() -> None:
    run = RunConfig.model_validate({"simulators": [{"kind": "command", "command": ["./x", "{carla_port}"], "gpu": 1}]})
    assert RunConfig.model_validate(run.model_dump(mode="json")) == run
