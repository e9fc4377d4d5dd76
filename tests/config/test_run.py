"""A run's YAML: required and forbidden keys of each kind of simulator."""

import pytest
from pydantic import ValidationError

from uavsim.config.run import RunConfig, SimulatorConfig


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"kind": "attach"}, "kind attach needs ports"),
        ({"kind": "attach", "ports": {"carla": 0}}, "listen, not 0"),
        ({"kind": "attach", "ports": {"carla": 65535}}, "CARLA needs 3 ports from 65535 on"),
        ({"ports": {"carla": 65534}}, "CARLA needs 3 ports from 65534 on"),
        ({"kind": "docker", "host": "example.org"}, "host must stay 127.0.0.1"),
        ({"kind": "command"}, "kind command needs command"),
        ({"kind": "mock", "command": ["x"]}, "kind mock takes no command"),
        ({"kind": "mock", "host": "10.0.0.7"}, "host must stay 127.0.0.1"),
        ({"name": "a b"}, "pattern"),
        ({"recycle_below_pace": 1.0}, "less than 1"),
    ],
)
def test_an_impossible_simulator_is_refused(values, why):
    with pytest.raises(ValidationError, match=why):
        SimulatorConfig.model_validate(values)


def test_simulators_of_one_name_are_refused():
    named = {"kind": "mock", "name": "a"}
    with pytest.raises(ValidationError, match="two simulators are named a; use different names"):
        RunConfig.model_validate({"simulators": [named, named]})
    assert len(RunConfig.model_validate({"simulators": [named, {}, {}]}).simulators) == 3


def test_what_is_left_out_is_one_headless_simulator():
    run = RunConfig()
    assert [simulator.kind for simulator in run.simulators] == ["mock"]
    assert run.simulators[0].ports == {}
    assert run.deadlines.load_s > run.deadlines.call_s


def test_a_form_hands_lists_and_text_over():
    run = RunConfig.model_validate(
        {"towns": ["Town03"], "scratch": "fast-disk/x", "simulators": [{"kind": "command", "command": ["carla"]}]}
    )
    assert run.towns == ("Town03",)
    assert run.simulators[0].command == ("carla",)
    with pytest.raises(ValidationError, match="simulators"):
        RunConfig.model_validate({"simulators": []})
