"""A CARLA server through its own client.

libcarla can abort or deadlock its interpreter: this code runs only in a client process that may be killed. Every vendor
exception is translated where it enters.
"""

import functools
import sys
import time
from collections.abc import Mapping, Sequence

import carla
import numpy as np

from uavsim.config.deadlines import Deadlines
from uavsim.errors import InputError, MapMissing, MissedTick, SimulatorError
from uavsim.geometry import unreal
from uavsim.records.ingredients import INGREDIENTS, ingredients_of, is_of_role, owner_of_kind
from uavsim.records.plan import MapStreaming, ScenePlan
from uavsim.records.recording import ActorInfo, DroneState
from uavsim.records.road_map import Building
from uavsim.simulate import versions
from uavsim.simulate.carla import read as carla_read
from uavsim.simulate.carla.buildings import buildings_of
from uavsim.simulate.carla.errors import translated
from uavsim.simulate.carla.manager_port import Manager
from uavsim.simulate.carla.motion import MotionReader
from uavsim.simulate.carla.spawning import SpawnContext, Spawned
from uavsim.simulate.ports import Endpoint, Heartbeat, SceneTraffic, TickState
from uavsim.simulate.recognise import require
from uavsim.typing import FloatArray

_DEFAULT_DEADLINES = Deadlines()
_LANE_PIECE_M = 2.0
_POLL_S = 0.0005
_WEATHER_QUERIES = 50
_HERO_ABOVE_M = 200.0  # out of range of cameras and lidars
_LEFT_BEHIND = ("controller.*", "walker.*", "vehicle.*", "sensor.*")


class CarlaWorld:
    """A CARLA server with its town, traffic and clock (a ``WorldPort``)."""

    def __init__(self, host: str, port: int, *, deadlines: Deadlines = _DEFAULT_DEADLINES) -> None:
        """Connect and compare versions; ``deadlines`` limits calls.

        Raises:
            SimulatorError: no server answers, or one of another version.
        """
        self._where, self.deadlines = f"{host}:{port}", deadlines
        self.server_version = require("carla", Endpoint(host, port)).detail
        self._client = carla.Client(host, port)
        self._client.set_timeout(self.deadlines.call_s)
        self.client_version: str = self._client.get_client_version()
        versions.refuse_other_client(
            self.client_version, server=self.server_version, where=self._where, python=sys.executable
        )
        with translated("opening the world"):
            self._world = self._client.get_world()
            # recorded as the dataset's origin; Unreal's spectator has no such attribute
            self._spectator = self._world.get_spectator()
            self.kind: str = str(self._spectator.attributes.get("simulator", "unreal"))
        self.generation = 0  # number of loaded worlds; cameras of an older one are gone
        self._step_s = self.paused_s = 0.0  # CARLA's clock includes the ticks of a paused game
        self._swept = False
        self._manager: Manager | None = None
        self._spawned: dict[str, Spawned] = {}
        self._instance_of: dict[int, int] = {}
        self._parked = carla_read.NOTHING_PARKED
        self._reader: MotionReader | None = None
        self._carried: list[carla.Sensor] = []  # sensors attached to the scene's actors
        self._streaming: MapStreaming | None = None
        self._hero: carla.Actor | None = None
        self._may_sleep: list[carla.Actor] = []  # actors of a large map
        self._was = carla_read.to_leave_behind(self._world.get_settings())

    @property
    def map_name(self) -> str:
        """The loaded map without its folder: ``Town10HD``."""
        with translated("reading the map"):
            return str(self._world.get_map().name).rsplit("/", 1)[-1]

    def drivable(self) -> FloatArray:
        """See ``WorldPort``; lanes are cut into pieces of 2 m."""
        with translated("reading the map"):
            pieces = self._world.get_map().generate_waypoints(_LANE_PIECE_M)
            return carla_read.lane_quads(pieces, length_m=_LANE_PIECE_M)

    def opendrive(self) -> str:
        """See ``WorldPort``."""
        with translated("reading the map"):
            return str(self._world.get_map().to_opendrive())

    def buildings(self) -> list[Building]:
        """See ``WorldPort``."""
        return buildings_of(self._world)

    def prepare(self, plan: ScenePlan, *, heartbeat: Heartbeat) -> None:
        """See ``WorldPort``."""
        heartbeat("load", 0)
        requested = plan.town.carla_map
        if self.map_name != requested or any(spawned.marks_town for spawned in self._spawned.values()):
            self._load(requested)
        heartbeat("load", 1)
        if not self._swept:
            self._sweep()
        self._step_s = plan.step_us / 1e6
        self._streaming = plan.town.streaming
        with translated("setting the clock"):
            self._attach_hero()
            self._move_spectator(plan.swarm.map_SE3_flu[0].translation_m.mean(axis=0))  # actors far from it are dormant
            self._apply_settings()

    def _attach_hero(self) -> None:
        """Spawn the vehicle around which a large map is streamed, and remove that of another town."""
        requested = "" if self._streaming is None else self._streaming.hero
        if self._hero is not None and self._hero.type_id != requested:
            self._hero.destroy()
            self._hero = None
        if requested and self._hero is None:
            blueprint = carla_read.set_up(
                self._world.get_blueprint_library().find(requested), {}, {"role_name": "hero"}
            )
            self._hero = self._world.spawn_actor(blueprint, carla.Transform(carla.Location(z=_HERO_ABOVE_M)))
            self._hero.set_simulate_physics(False)

    def _sweep(self) -> None:
        """Remove the actors that a killed client process left in this simulator: they would block our spawn points.

        A borrowed simulator belongs to the run alone, so all vehicles, walkers and sensors are removed. A client learns of
        them from the server's snapshots, and a server left in synchronous mode sends none without a tick.
        """
        with translated("clearing what another client left"):
            self._pass_a_tick()
            left = [a.id for kind in _LEFT_BEHIND for a in self._world.get_actors().filter(kind)]
            props = self._world.get_actors().filter("static.prop.*")
            left += [a.id for a in props if is_of_role(str(a.attributes.get("role_name", "")))]
            if left:
                self._client.apply_batch_sync([carla.command.DestroyActor(i) for i in left], False)
                self._pass_a_tick()
        self._swept = True

    def _load(self, requested: str) -> None:
        with translated("listing maps"):
            maps = sorted({name.rsplit("/", 1)[-1] for name in self._client.get_available_maps()})
        if requested not in maps:
            raise MapMissing(f"the server at {self._where} has no map {requested!r}; it has {', '.join(maps)}")
        self._client.set_timeout(self.deadlines.load_s)
        with translated(f"loading {requested}"):
            self._world = self._client.load_world(requested)
            self._spectator = self._world.get_spectator()
        self._client.set_timeout(self.deadlines.call_s)
        self.generation += 1
        self._spawned, self._reader, self._carried, self._may_sleep, self._hero = {}, None, [], [], None
        if self.map_name != requested:
            raise SimulatorError(f"the server at {self._where} loaded {self.map_name} instead of {requested}")

    def _apply_settings(self) -> None:
        """Set the clock. libcarla ticks in this call: until the step is right, and then once more."""
        settings = self._world.get_settings()
        settings.synchronous_mode = True
        settings.fixed_delta_seconds = self._step_s
        settings.no_rendering_mode = False  # it stops no camera, and makes each tick slower (carla issue 9535)
        settings.deterministic_ragdolls = True
        if self._streaming is not None:
            settings.tile_stream_distance = self._streaming.tile_stream_distance_m  # type: ignore[assignment]  # stub
            settings.actor_active_distance = self._streaming.actor_active_distance_m
            settings.spectator_as_ego = self._streaming.spectator_as_ego
        self._world.apply_settings(settings)

    def _next_tick(self) -> int:
        return int(self._world.tick(self.deadlines.call_s))

    def set_weather(self, values: Sequence[float]) -> None:
        """See ``WorldPort``."""
        with translated("setting the weather"):
            requested = carla.WeatherParameters(*(float(v) for v in values))
            self._world.set_weather(requested)
            for _ in range(_WEATHER_QUERIES):  # set_weather is asynchronous (Client.cpp, AsyncCall)
                if (current := self._world.get_weather()) == requested:
                    return
        raise InputError(
            f"the server at {self._where} cannot change its weather, like CARLA 0.10.0: set the dataset's weather to {current}"
        )

    def tick(self, *, captured: bool) -> TickState:
        """See ``WorldPort``."""
        with translated("ticking"):
            frame = self._next_tick()
            snapshot = self._world.get_snapshot()
        if snapshot.frame != frame:
            raise MissedTick(f"tick {frame}: the snapshot is of tick {snapshot.frame}")
        if abs(snapshot.timestamp.delta_seconds - self._step_s) > 1e-6:
            raise MissedTick(
                f"tick {frame} took {snapshot.timestamp.delta_seconds} s of simulation, not {self._step_s}"
            )
        elapsed_s = float(snapshot.timestamp.elapsed_seconds) - self.paused_s
        return self._state(snapshot, elapsed_s, full=True, captured=captured)

    def cue(self) -> None:
        """Request a tick of the server without a step of the Traffic Manager; returns at once."""
        with translated("passing a tick"):
            self._client.apply_batch([], True)

    def now(self, *, full: bool = False) -> TickState:
        """Return the last received state with the server's own clock; ``full`` as ``tick`` does, else poses only."""
        with translated("reading the world"):
            snapshot = self._world.get_snapshot()
        return self._state(snapshot, float(snapshot.timestamp.elapsed_seconds), full=full, captured=full)

    @property
    def frame(self) -> int:
        """The frame of the last received state."""
        return int(self._world.get_snapshot().frame)

    def wake(self) -> bool:
        """Wake a hanging Traffic Manager; returns False if it is missing or does not answer."""
        return self._manager is not None and self._manager.port.wake()

    def newer_than(self, frame: int, *, timeout_s: float) -> TickState | None:
        """Wait for the state of a later frame; None after the time limit."""
        end = time.monotonic() + timeout_s
        while self.frame <= frame and time.monotonic() < end:
            time.sleep(_POLL_S)
        return state if (state := self.now()).frame > frame else None

    def _state(
        self, snapshot: carla.WorldSnapshot, elapsed_s: float, *, full: bool, captured: bool = True
    ) -> TickState:
        """Convert a snapshot; ``full`` adds motion and, in a replay, the recorded velocities."""
        table = carla_read.rows_of(snapshot, self._awake(), captured=captured)
        motion, proven = None, []
        if full and self._reader is not None:
            with translated("reading the actors"):
                motion = self._reader.read(table, captured=captured)
            proven = [functools.partial(s.proven, motion=motion) for s in self._spawned.values() if s.proves]
        states = carla_read.lazy_states(table, self._parked, proven=proven)
        return TickState(int(snapshot.frame), elapsed_s, states, motion)

    def _awake(self) -> dict[int, int]:
        """Return the instance ids without dormant actors of a large map, which are not drawn."""
        asleep = {actor.id for actor in self._may_sleep if actor.is_dormant}
        return (
            {i: number for i, number in self._instance_of.items() if i not in asleep} if asleep else self._instance_of
        )

    def populate(self, plan: ScenePlan, *, heartbeat: Heartbeat) -> SceneTraffic:
        """See ``WorldPort``."""
        heartbeat("spawn", 0)
        self._clear()
        self._spawn(plan, heartbeat=heartbeat)
        with translated("reading the actors"):
            actors = self._describe(plan)
            self._reader = MotionReader(self._world, self._instance_of)
            for one in self._spawned.values():
                self._parked = carla_read.joined(self._parked, one.scenery(len(actors) + len(self._parked.infos) + 1))
        heartbeat("spawn", 2)
        counts = {what: count for spawned in self._spawned.values() for what, count in spawned.counts.items()}
        info_of = {info.simulator_actor_id: info for info in actors}
        agents = {agent: where for spawned in self._spawned.values() for agent, where in spawned.agents_in(info_of)}
        return SceneTraffic(actors + self._parked.infos, counts, agents)

    def show(self, step: int, drones: Sequence[DroneState] = ()) -> None:
        """See ``WorldPort``."""
        with translated("placing actors"):
            if drones:
                self._move_spectator(np.mean([drone.map_SE3_flu.translation_m for drone in drones], axis=0))
            for spawned in self._spawned.values():
                spawned.on_drone_poses(drones)
                self._parked = spawned.moved(self._parked)
                spawned.before_tick(step)

    def _move_spectator(self, position_m: FloatArray) -> None:
        """Move the spectator, around which Unreal streams textures and terrain (carla issue 4682), and the hero."""
        x, y, z = unreal.ue_vector_from_map(position_m).tolist()
        self._spectator.set_transform(carla.Transform(carla.Location(x, y, z), carla.Rotation(pitch=-90)))
        if self._hero is not None:
            self._hero.set_transform(carla.Transform(carla.Location(x, y, z + _HERO_ABOVE_M)))

    def _spawn(self, plan: ScenePlan, *, heartbeat: Heartbeat) -> None:
        """Spawn the ingredients in order; actors are numbered in the registry's order."""
        context = SpawnContext(
            client=self._client,
            world=self._world,
            plan=plan,
            map_name=self.map_name,
            pass_a_tick=self._next_tick,
            traffic_manager=self._started_traffic_manager,
        )
        used = [one for one in ingredients_of(plan.ingredients) if one.ingredient.spawn is not None]
        used = [one for one in used if one.ingredient.replays is not None] or used
        for one in sorted(used, key=lambda one: one.ingredient.spawn_order):
            assert one.ingredient.spawn is not None
            with translated(f"spawning {one.name}"):
                self._spawned[one.name] = one.ingredient.spawn.load()(context, one.record)
            heartbeat("spawn", 1)
        for one in used:
            spawned = self._spawned[one.name]
            numbers = spawned.instance_of
            for actor_id in spawned.actor_ids:
                self._instance_of[actor_id] = len(self._instance_of) + 1 if numbers is None else numbers[actor_id]

    def _started_traffic_manager(self) -> carla.TrafficManager:
        if self._manager is None:
            self._manager = Manager(self._client)
        return self._manager.vendors

    def _describe(self, plan: ScenePlan) -> tuple[ActorInfo, ...]:
        """Describe the actors; ingredients may complete the descriptions of their kinds, also in a replay."""
        owner = {actor_id: spawned for spawned in self._spawned.values() for actor_id in spawned.actor_ids}
        infos: dict[int, ActorInfo] = {}
        actors = list(self._world.get_actors(list(owner))) if owner else []
        self._may_sleep = actors if self._streaming is not None else []
        for actor in actors:
            kind = owner[actor.id].kind_of(actor)
            info = carla_read.actor_info(actor, self._instance_of[actor.id], kind=kind)
            name, _ = owner_of_kind(kind)
            if (finish := INGREDIENTS.pick(name).finish) is not None and name in plan.ingredients:
                info = finish.load()(plan.ingredients[name], actor, info)
            infos[actor.id] = info
        for spawned in self._spawned.values():
            spawned.set_actor_infos(infos)
        return tuple(infos.values())

    def _clear(self) -> None:
        self._reader = None
        with translated("clearing the last scene"):
            if self._carried:  # before their actors
                self.destroy(self._carried)
            self._carried = []
            for spawned in self._spawned.values():
                spawned.clear()
            doomed = [i for one in reversed(self._spawned.values()) for i in (*one.helpers, *one.actor_ids)]
            if doomed:
                self._client.apply_batch_sync([carla.command.DestroyActor(i) for i in doomed], False)
                self._next_tick()
        self._spawned, self._instance_of, self._parked = {}, {}, carla_read.NOTHING_PARKED
        self._may_sleep = []

    def spawn_sensor(
        self,
        blueprint_id: str,
        attributes: Mapping[str, float],
        *,
        optional: Mapping[str, str],
        carried: tuple[int, carla.Transform] | None = None,
    ) -> carla.Sensor:
        """Spawn a sensor without a listener; returns the actor.

        Args:
            blueprint_id: blueprint of the sensor.
            attributes: attributes of the blueprint.
            optional: attributes that only some versions have; set if present.
            carried: actor to attach the sensor to, and the mount; the sensor is destroyed before the actor.
        """
        with translated(f"spawning a {blueprint_id}"):
            blueprint = carla_read.set_up(self._world.get_blueprint_library().find(blueprint_id), attributes, optional)
            carrier, pose = carried or (0, carla.Transform(carla.Location(z=500.0)))
            sensor = self._world.spawn_actor(blueprint, pose, self._world.get_actor(carrier) if carrier else None)
            assert isinstance(sensor, carla.Sensor)
            self._carried += [sensor] if carried else []
            return sensor

    def move(self, actor_ids: Sequence[int], ue_location_m: FloatArray, ue_euler_deg: FloatArray) -> None:
        """Teleport N actors in one batch, effective in the next tick.

        Args:
            actor_ids: ids of the actors.
            ue_location_m: (N, 3) locations in CARLA's frame, metres.
            ue_euler_deg: (N, 3) roll, pitch, yaw, degrees.

        Raises:
            SimulatorError: an actor could not be moved.
        """
        commands = [
            carla.command.ApplyTransform(
                i, carla.Transform(carla.Location(*p), carla.Rotation(pitch=e[1], yaw=e[2], roll=e[0]))
            )
            for i, p, e in zip(actor_ids, ue_location_m.tolist(), ue_euler_deg.tolist(), strict=True)
        ]
        with translated("moving the cameras"):
            replies = self._client.apply_batch_sync(commands, False)
        failed = [r.error for r in replies if r.error]
        if failed:
            raise SimulatorError(f"{len(failed)} of {len(commands)} cameras could not be moved: {failed[0]}")

    def destroy(self, actors: Sequence[carla.Sensor]) -> None:
        """Destroy sensors that have no listener."""
        with translated("removing cameras"):
            self._client.apply_batch_sync([carla.command.DestroyActor(a.id) for a in actors], False)

    def spawn_prop(self, blueprint: str, ue_location_m: FloatArray) -> carla.Actor:
        """Spawn a prop without physics at a (3,) location, metres, and pass a tick so that clients know it."""
        with translated(f"spawning {blueprint}"):
            pose = carla.Transform(carla.Location(*(float(v) for v in ue_location_m)))
            prop = self._world.spawn_actor(self._world.get_blueprint_library().find(blueprint), pose)
            prop.set_simulate_physics(False)
            self._pass_a_tick()
            return prop

    def remove_prop(self, prop: carla.Actor) -> None:
        """Remove a prop."""
        with translated("removing a prop"):
            prop.destroy()
            self._pass_a_tick()

    def _pass_a_tick(self) -> None:
        if self._world.get_settings().synchronous_mode:
            self._next_tick()
        else:
            self._world.wait_for_tick(self.deadlines.call_s)

    def close(self) -> None:
        """See ``WorldPort``."""
        self._clear()
        with translated("releasing the clock"):
            self._streaming = None
            self._attach_hero()
            if self._manager is not None:
                self._manager.shut_down()
            self._manager = None
            self._world.apply_settings(self._was)
