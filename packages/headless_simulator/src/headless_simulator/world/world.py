"""The state, clock and physics behind both servers; the owner of the clock steps it."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from headless_simulator.models.library import ModelLibrary
from headless_simulator.scene import (
    Float64,
    Movers,
    Town,
    UInt8,
    Weather,
)
from headless_simulator.world import contact, crashes, friction, physics
from headless_simulator.world.ackermann import Ackermann
from headless_simulator.world.actors import SPRING_ARM, Actor, NoSuchActor, SpawnOrder, SpawnRefused, kind_of
from headless_simulator.world.body import give_body, show_doors, show_lights
from headless_simulator.world.game_thread import GameThread
from headless_simulator.world.ground_grid import GroundGrid
from headless_simulator.world.large_map import Distances, LargeMap, is_large
from headless_simulator.world.movers import movers_of
from headless_simulator.world.pose import Pose6, undo
from headless_simulator.world.renderer_like import RendererLike
from headless_simulator.world.scenery import Scenery
from headless_simulator.world.signals import Signals
from headless_simulator.world.speed_limits import SpeedLimits
from headless_simulator.world.table import LIGHT, PROP, SIGN, SPECTATOR, VEHICLE, WALKER, ActorTable

_DESTROYED: Final = 4096
_FIRST_SIGN_ID: Final = 2**30  # signs have a separate range: their number changes no other actor's id


class World:
    """The actors and the state of one town.

    Args:
        town: where.
        models: meshes and boxes.
        renderer_of: returns the renderer of a town; called once per ``open``.

    Attributes:
        lock: servers hold it while they read or change the world.
        frame: number of the last tick; never decreases.
        elapsed_s: simulated time since the town was loaded.
        scene_s: simulated time since the last restart of the lights; the only time that images may depend on.
        delta_s: length of the last tick.
        touches: collisions of the last tick.
        game_thread: serves AirSim's game thread calls in a merged build.
    """

    def __init__(self, town: Town, *, models: ModelLibrary, renderer_of: Callable[[Town], RendererLike]) -> None:
        self.models = models
        self.lock = threading.RLock()
        self.game_thread = GameThread()
        self.frame, self.episode, self.delta_s = 1, 0, 0.05
        self._next_id, self._next_sign_id = 1, _FIRST_SIGN_ID
        self._renderer_of = renderer_of
        self._streams = False
        self.open(town)
        self._warm_up()

    def _warm_up(self) -> None:
        """Compile the kernels or read them from the cache, outside a client's deadline."""
        c, none = self.table.c, np.zeros(0, np.int64)
        physics.step((none, none, none), 0.05, c, self._ground)
        physics.carry_all(c)
        boxes = contact.boxes_of(none, c.pose, c.half, c.offset)
        crashes.resolve(self.table, none, np.zeros((0, 6)), self.scenery.walls)
        contact.first_hit(np.zeros(7), boxes)
        contact.overlap_depth(np.zeros(7), np.zeros(7))
        self._limits.write(none, c)
        self.signal_state.at_lights(none, c)

    # ------------------------------------------------------------------ town
    def scenery_of(self, town: Town) -> Scenery[RendererLike]:
        """Build a town's scenery, which is slow and needs no lock, so that the world continues meanwhile."""
        return Scenery(town, self._renderer_of(town))

    def open(self, town: Town, scenery: Scenery[RendererLike] | None = None, *, ids_go_on: bool = False) -> None:
        """Start a new episode in ``town``, with prebuilt scenery if given; ids restart at 1 unless ``ids_go_on``."""
        with self.lock:
            self.town = town
            self.scenery = scenery or self.scenery_of(town)
            self.episode += 1
            self.frame += 1
            self.elapsed_s = self.scene_s = 0.0
            self.weather = Weather()
            self.table = ActorTable()
            self.actors: dict[int, Actor] = {}
            self._destroyed: OrderedDict[int, Actor] = OrderedDict()
            if not ids_go_on:
                self._next_id, self._next_sign_id = 1, _FIRST_SIGN_ID
            self._first_id = self._next_id
            self._ground = GroundGrid.of(town.ground)
            self.signal_state = Signals(town.signals)
            self.touches: list[crashes.Touch] = []
            self._triggers: list[Actor] = []
            self.large_map: LargeMap | None = LargeMap() if self._streams and is_large(town) else None
            self._ackermann: dict[int, Ackermann] = {}
            self._movers: Movers | None = None
            self._limits = SpeedLimits(town.speed_limits)
            self._populate()

    def _populate(self) -> None:
        self.lights: list[Actor] = []
        for number, head in enumerate(self.town.signals):
            light = self._enter(SpawnOrder("traffic.traffic_light", pose=head.pose), LIGHT)
            light.number, light.tag = number, 7
            x, y, z = undo(np.array(head.pose), np.array([head.trigger[:3]]))[0].tolist()
            light.half_m, light.offset_m = head.trigger[3:6], (x, y, z)
            light.box_yaw_deg = head.trigger[6] - head.pose[4]
            self.lights.append(light)
        self.light_ids = np.array([light.actor_id for light in self.lights], np.uint32)
        self.sign_ids = np.array([number.encode() for _, _, number in self.town.traffic_signs], np.bytes_)
        for blueprint, pose, _ in self.town.traffic_signs:
            sign = self._enter(SpawnOrder(blueprint, pose=pose), SIGN, actor_id=self._next_sign_id)
            self._next_sign_id += 1
            sign.tag = 8
        self.spectator = self._enter(SpawnOrder("spectator", pose=(0.0, 0.0, 50.0, -90.0, 0.0, 0.0)), SPECTATOR)

    def stream_large_maps(self, streams: bool) -> None:
        """Switch streaming of large towns on or off."""
        self._streams = streams
        self.large_map = LargeMap() if streams and is_large(self.town) else None

    def stream(self, distances: Distances) -> None:
        """Load the part of a large map near the ego, unload the rest."""
        if self.large_map is not None:
            self.large_map.update(self.table, self.actors.values(), self.spectator, distances)
            self.scenery.stream(self.large_map.tiles)

    @property
    def origin_m(self) -> tuple[int, int, int]:
        """Unreal's origin in the town's frame, metres, which moves in large maps."""
        return self.large_map.origin_m if self.large_map is not None else (0, 0, 0)

    def from_origin(self, pose: Pose6) -> Pose6:
        """Return a pose relative to Unreal's origin, metres and degrees."""
        (x, y, z), origin_m = pose[:3], self.origin_m
        return (x - origin_m[0], y - origin_m[1], z - origin_m[2], *pose[3:])

    # ------------------------------------------------------------------ actors
    def actor(self, actor_id: int) -> Actor:
        """Return a living actor.

        Raises:
            NoSuchActor: no living actor has that id.
        """
        try:
            return self.actors[actor_id]
        except KeyError:
            raise NoSuchActor(actor_id) from None

    def actor_or_destroyed(self, actor_id: int) -> Actor:
        """Return a living or recently destroyed actor, because an error to a late call would abort a client.

        Raises:
            NoSuchActor: no actor has or had that id.
        """
        found = self.actors.get(actor_id) or self._destroyed.get(actor_id)
        if found is None:
            raise NoSuchActor(actor_id)
        return found

    def spawn(self, order: SpawnOrder) -> Actor:
        """Spawn an actor.

        Raises:
            SpawnRefused: the spawn point is occupied, or the parent does not exist.
        """
        with self.lock:
            if order.parent_id and order.parent_id not in self.actors:
                raise SpawnRefused("unable to attach actor: parent actor not found")
            actor = self._enter(order, kind_of(order.blueprint))
            if actor.kind in (VEHICLE, WALKER) and not actor.parent_id and self._is_taken(actor):
                self._leave(actor)
                self._next_id -= 1
                raise SpawnRefused("Spawn failed because of collision at spawn position")
            return actor

    def enter(self, order: SpawnOrder, *, wanted_id: int) -> Actor:
        """Spawn an actor without a collision check, under ``wanted_id`` if no other actor had it."""
        with self.lock:
            before = self.actors.get(wanted_id) or self._destroyed.get(wanted_id)
            is_free = 0 < wanted_id < _FIRST_SIGN_ID and (before is None or before.blueprint == order.blueprint)
            if not is_free or wanted_id in self.actors:
                wanted_id = self._next_id
            return self._enter(order, kind_of(order.blueprint), actor_id=wanted_id)

    def attach(self, child: Actor, parent: Actor) -> None:
        """Attach an actor rigidly to a parent; its current pose becomes relative to the parent.

        An attachment that would close a cycle has no effect.
        """
        c, above = self.table.c, parent.row
        while above >= 0:
            if above == child.row:
                return
            above = int(c.parent[above])
        child.parent_id = parent.actor_id
        c.parent[child.row], c.relative[child.row] = parent.row, c.pose[child.row]
        physics.carry(child.row, c)
        c.was[child.row] = c.pose[child.row, :3]

    def _enter(self, order: SpawnOrder, kind: int, *, actor_id: int | None = None) -> Actor:
        number = self._next_id if actor_id is None else actor_id
        actor = Actor(number, self.table.claim(kind, number), kind, order, parent_id=order.parent_id)
        if kind != SIGN:
            self._next_id = max(self._next_id, number + 1)
        actor.place_in_episode = number - self._first_id + 1
        c, row = self.table.c, actor.row
        c.pose[row] = order.pose
        self._give_body(actor)
        if order.parent_id:
            c.parent[row], c.relative[row] = self.actors[order.parent_id].row, order.pose
            c.level[row] = order.attachment == SPRING_ARM
            physics.carry(row, c)
        c.was[row] = c.pose[row, :3]
        if kind == VEHICLE:
            self._limits.write(np.array([row]), c)
        self.actors[actor.actor_id] = actor
        self._movers = None
        return actor

    def _give_body(self, actor: Actor) -> None:
        if actor.blueprint == friction.TRIGGER:
            actor.half_m = friction.trigger_half_m(actor.order.attributes)
            self._triggers.append(actor)
        give_body(actor, self.table.c, self.models)

    def ackermann(self, vehicle: Actor) -> Ackermann:
        """Return the Ackermann controller of a vehicle."""
        return self._ackermann.setdefault(vehicle.actor_id, Ackermann())

    def set_door(self, actor_id: int, door: int, *, opened: bool) -> bool:
        """Open or close a door of a vehicle; returns whether it has such a door."""
        changed = show_doors(self.actor(actor_id), self.table.c, self.models, door=door, opened=opened)
        self._movers = None
        return changed

    def set_lights(self, actor_id: int, bits: int) -> None:
        """Set the light bits of a vehicle."""
        show_lights(self.actor(actor_id), self.table.c, self.models, bits=bits)

    def _is_taken(self, actor: Actor) -> bool:
        c = self.table.c
        box = contact.boxes_of(np.array([actor.row]), c.pose, c.half, c.offset)[0]
        box[6] += 0.3  # dropped from slightly above: objects below count too
        others = self.table.rows(VEHICLE, WALKER, PROP)
        others = others[(others != actor.row) & (c.solid[others] != 0)]
        if len(others) and contact.first_hit(box, contact.boxes_of(others, c.pose, c.half, c.offset)) >= 0:
            return True
        return actor.kind == VEHICLE and contact.first_hit(box, self.scenery.walls.boxes) >= 0

    def destroy(self, actor_id: int) -> None:
        """Destroy an actor; attached actors keep their pose.

        Raises:
            NoSuchActor: no living actor has that id.
        """
        with self.lock:
            actor = self.actor(actor_id)
            for child in self.actors.values():
                if child.parent_id == actor_id:
                    child.parent_id = 0
                    self.table.c.parent[child.row] = -1
            self._leave(actor)
            actor.order = replace(actor.order, description=None)  # nine tenths of it, no longer used
            self._destroyed[actor_id] = actor
            while len(self._destroyed) > _DESTROYED:
                self._destroyed.popitem(last=False)

    def _leave(self, actor: Actor) -> None:
        actor.alive = False
        if actor in self._triggers:
            self._triggers.remove(actor)
        self._ackermann.pop(actor.actor_id, None)
        del self.actors[actor.actor_id]
        self.table.release(actor.row)
        self._movers = None

    def teleport(self, actor: Actor, pose: Pose6 | Float64) -> None:
        """Teleport (metres, degrees); as in CARLA, an attached actor's pose is in its parent's frame."""
        c, row = self.table.c, actor.row
        if c.parent[row] >= 0:
            c.relative[row] = pose
            physics.carry(row, c)
            return
        c.pose[row] = pose
        c.placed[row] = 1

    def place_actor(self, actor_id: int, pose: Pose6) -> bool:
        """Teleport an actor (metres, degrees); False if it does not exist."""
        with self.lock:
            actor = self.actors.get(actor_id)
            if actor is not None:
                self.teleport(actor, pose)
            return actor is not None

    # ------------------------------------------------------------------ clock
    def restart_scene(self) -> None:
        """Restart every clock that images and lights depend on."""
        with self.lock:
            self.scene_s = 0.0
            self.signal_state.reset()

    def step(self, delta_s: float, *, paused: bool = False) -> None:
        """Advance by one tick; in a paused game only clients' teleports take effect."""
        with self.lock:
            if not paused:
                self._move(delta_s)
            physics.carry_all(self.table.c)
            self.frame += 1
            self.elapsed_s += delta_s if not paused or self.game_thread.rules.pause_keeps_counting else 0.0
            self.scene_s += 0.0 if paused else delta_s
            self.delta_s = delta_s
            self._movers = None
            self.movers()

    def _move(self, delta_s: float) -> None:
        c = self.table.c
        vehicles, walkers = (rows[c.dormant[rows] == 0] for rows in map(self.table.rows, (VEHICLE, WALKER)))
        self.signal_state.step(delta_s)
        friction.apply_triggers(self.table, vehicles, self._triggers)
        for actor_id, controller in self._ackermann.items():
            if controller.active:
                controller.drive(self.actors[actor_id].row, c, delta_s)
        before = c.pose[vehicles]
        physics.step((vehicles, walkers, self.table.rows(PROP)), delta_s, c, self._ground)
        self.touches = crashes.resolve(self.table, vehicles, before, self.scenery.walls) if len(vehicles) else []
        if len(vehicles):
            self.signal_state.at_lights(vehicles, c)
            self._limits.write(vehicles, c)

    # ------------------------------------------------------------------ for servers and renderers
    def movers(self) -> Movers:
        """Return the actors with a body, by actor id, at the last tick or the latest spawn or destruction."""
        with self.lock:
            if self._movers is None:
                self._movers = movers_of(self.table)
            return self._movers

    @property
    def renderer(self) -> RendererLike:
        """Renderer of the town's current state."""
        return self.scenery.renderer

    @property
    def time_s(self) -> float:
        """Simulated time that images may depend on."""
        return self.scene_s

    def actor_types(self) -> Mapping[int, str]:
        """Blueprint id of each actor id."""
        with self.lock:
            return {actor_id: actor.blueprint for actor_id, actor in self.actors.items()}

    def signals(self) -> UInt8:
        """Return the (L,) uint8 state of every traffic light: 0 red, 1 yellow, 2 green, 3 off."""
        with self.lock:
            return self.signal_state.state.copy()

    def set_weather(self, weather: Weather) -> None:
        """Change the weather from the next image on."""
        with self.lock:
            self.weather = replace(weather)
