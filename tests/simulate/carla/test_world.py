from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from uavsim.config.deadlines import Deadlines
from uavsim.errors import InputError, SimulatorError
from uavsim.records.motion import TickMotion
from uavsim.records.recording import ActorStates
from uavsim.simulate.carla import read
from uavsim.simulate.carla.read import NOTHING_PARKED
from uavsim.simulate.carla.spawning import Spawned
from uavsim.simulate.carla.world import CarlaWorld


class SilentServer:
    """A stub server left in synchronous mode: its client lists no actor before a tick."""

    def __init__(self) -> None:
        self.ticks = 0
        self.destroyed: list[int] = []

    def get_settings(self) -> Any:
        return SimpleNamespace(synchronous_mode=True)

    def tick(self, _seconds: float) -> int:
        self.ticks += 1
        return self.ticks

    def get_actors(self) -> Any:
        props = [(11, "corner_case 0 1"), (12, "somebody's own"), (13, "intruder")]
        known = {
            "vehicle.*": [SimpleNamespace(id=7), SimpleNamespace(id=9)],
            "static.prop.*": [SimpleNamespace(id=i, attributes={"role_name": role}) for i, role in props],
        }
        known = known if self.ticks else {}
        return SimpleNamespace(filter=lambda kind: known.get(kind, []))

    def apply_batch_sync(self, commands: list[Any], _tick: bool) -> None:
        self.destroyed += [command.actor_id for command in commands]


def test_actors_of_a_killed_client_are_swept_from_a_silent_server() -> None:
    """A new client's first snapshot may be late, and a real server sends none without a tick."""
    world = CarlaWorld.__new__(CarlaWorld)
    server: Any = SilentServer()
    world._world = world._client = server
    world._swept, world._manager, world.deadlines = False, None, Deadlines()
    world._sweep()
    assert server.destroyed == [7, 9, 11, 13]  # props of other clients stay
    assert world._swept
    assert server.ticks == 2  # one to list them, one to remove them


def test_every_proving_ingredient_checks_the_tick(monkeypatch: pytest.MonkeyPatch) -> None:
    """There may be two, such as drone bodies and a plug-in's ingredient."""
    checked: list[str] = []

    class Proving(Spawned):
        proves = True

        def proven(self, states: ActorStates, motion: TickMotion) -> ActorStates:
            del motion
            checked.append(self.kind)
            return states

    world = CarlaWorld.__new__(CarlaWorld)
    world._instance_of, world._parked, world._may_sleep = {}, NOTHING_PARKED, []
    world._reader = cast("Any", SimpleNamespace(read=lambda _table, captured: captured))
    world._spawned = {kind: made(kind) for made, kind in ((Proving, "one"), (Spawned, "none"), (Proving, "other"))}
    monkeypatch.setattr(read, "rows_of", lambda *_, **__: np.ones((1, 16)))

    world._state(cast("Any", SimpleNamespace(frame=7)), 0.5, full=True)

    assert checked == ["one", "other"]


def test_dormant_actors_of_a_large_map_are_left_out() -> None:
    world = CarlaWorld.__new__(CarlaWorld)
    world._instance_of = {10: 1, 11: 2, 12: 3}
    world._may_sleep = [cast("Any", SimpleNamespace(id=i, is_dormant=i == 11)) for i in (10, 11, 12)]

    assert world._awake() == {10: 1, 12: 3}


class ForgetfulServer:
    """A stub server with a weather that changes some queries after the call, or never."""

    def __init__(self, *, questions: int | None) -> None:
        self._left, self._shown, self._set = questions, "old", "old"

    def set_weather(self, weather: Any) -> None:
        self._set = weather

    def get_weather(self) -> Any:
        if self._left is not None:
            self._left -= 1
            if self._left < 0:
                self._shown = self._set
        return self._shown


def weather_on(server: ForgetfulServer) -> None:
    world = CarlaWorld.__new__(CarlaWorld)
    world._world, world._where = server, "127.0.0.1:2000"  # type: ignore[assignment]
    world.set_weather([0.0] * 14)


def test_weather_that_takes_effect_late_is_awaited() -> None:
    weather_on(ForgetfulServer(questions=3))


def test_server_that_ignores_weather_is_refused() -> None:
    with pytest.raises(
        InputError, match=r"127\.0\.0\.1:2000 cannot change its weather, .*: set the dataset's weather to old"
    ):
        weather_on(ForgetfulServer(questions=None))


def test_server_that_loads_another_map_is_refused() -> None:
    loaded = SimpleNamespace(get_spectator=lambda: None, get_map=lambda: SimpleNamespace(name="Carla/Maps/Town02"))
    client = SimpleNamespace(
        get_available_maps=lambda: ["/Game/Carla/Maps/Town01"],
        set_timeout=lambda _seconds: None,
        load_world=lambda _name: loaded,
    )
    world = CarlaWorld.__new__(CarlaWorld)
    world._client, world._where, world.deadlines = cast("Any", client), "127.0.0.1:2000", Deadlines()
    world.generation = 0
    with pytest.raises(SimulatorError, match="loaded Town02 instead of Town01"):
        world._load("Town01")
