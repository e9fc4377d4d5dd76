"""Raster pass over the world: depth, ids and semantic tags, and colour shaded from them."""

from __future__ import annotations

import copy
import threading
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from headless_simulator.models import ModelLibrary
from headless_simulator.render.camera import pack
from headless_simulator.render.encode import encode_depth, encode_instance
from headless_simulator.render.flow import Before, optical_flow
from headless_simulator.render.glow import NO_GLOW, NO_GLOW_FRAME, GlowMaps
from headless_simulator.render.lanes import LANES, TILE
from headless_simulator.render.light import NIGHT, Light, light_of, noise_texture
from headless_simulator.render.pack import ModelPack, ModelStore
from headless_simulator.render.patches import blend_patch, patches_of
from headless_simulator.render.pixel_events import EventPixels, Tuning
from headless_simulator.render.rain import draw_rain
from headless_simulator.render.raster import SMALL, draw_movers, draw_static, model_frames
from headless_simulator.render.raycast import Bounds, RayGrid, build_grid, cast_rays
from headless_simulator.render.resolve import base_colours, mover_tables, resolve, resolve_normals
from headless_simulator.render.shade import shade
from headless_simulator.render.shadow import NO_FRAME, NO_HEIGHTS, ShadowMaps
from headless_simulator.render.tiles import StaticScene, linear, sort_into_tiles
from headless_simulator.scene import (
    SIGNAL_GREEN,
    SIGNAL_RED,
    SIGNAL_YELLOW,
    Float32,
    Float64,
    Int32,
    Mesh,
    Movers,
    RenderedImage,
    SignalHead,
    Tile,
    UInt8,
    UInt32,
    View,
    Weather,
)


class _DrawnMovers(NamedTuple):
    """Per-triangle shading tables of the drawn movers."""

    movers: Movers
    models: ModelPack
    model: Int32
    world: Float64
    surface: Float32
    material: UInt8
    owner: Int32


class Renderer:
    """Draws a town and its movers; thread-safe, and the kernels run without the GIL.

    Args:
        town_mesh: the static mesh.
        models: the movers' models.
        signals: the town's traffic lights, in the order of ``render``'s ``signals``; without them all lamps are off.
    """

    def __init__(self, town_mesh: Mesh, models: ModelLibrary, signals: Sequence[SignalHead] = ()) -> None:
        self._scene = sort_into_tiles(town_mesh)
        self._models = ModelStore(models)
        self._shadows = ShadowMaps(self._scene)
        self._glows = GlowMaps(self._scene)
        self._grid: RayGrid | None = None
        self._grid_lock = threading.Lock()
        self._tile_vertices = int(np.diff(self._scene.tile_points).max(initial=0))
        self._lamps = self._find_lamps(town_mesh, signals)
        self._last_lit: tuple[bytes | None, UInt8] = None, np.zeros(0, np.uint8)
        self._is_lamp = (self._scene.material >= SIGNAL_RED) & (self._scene.material <= SIGNAL_GREEN)

    def _find_lamps(self, mesh: Mesh, signals: Sequence[SignalHead]) -> tuple[Int32, Int32, UInt8]:
        """Return (K,) scene triangle, signal number and lit state of each lamp triangle."""
        triangles = [np.asarray(signal.lamp_triangles, dtype=np.int32) for signal in signals]
        lamps = np.concatenate([np.zeros(0, np.int32), *triangles])
        owner = np.repeat(np.arange(len(triangles), dtype=np.int32), [len(part) for part in triangles])
        lit_in = (
            (mesh.material[lamps].astype(np.int32) - SIGNAL_RED).clip(0, SIGNAL_GREEN - SIGNAL_RED).astype(np.uint8)
        )
        assert SIGNAL_RED + 1 == SIGNAL_YELLOW == SIGNAL_GREEN - 1  # states 0, 1, 2 are red, yellow, green
        return self._scene.scene_triangle[lamps], owner, lit_in

    def without(self, object_ids: frozenset[int]) -> Renderer:
        """Return a renderer of the same town without some static objects.

        Their triangles lose their area and keep their numbers, so that all triangle tables stay valid.
        """
        return self._of(self._scene.without(object_ids)) if object_ids else self

    def streamed(self, tiles: frozenset[Tile]) -> Renderer:
        """Return a renderer of the same town that only draws some tiles of the map."""
        return self._of(self._scene.streamed(tiles))

    def _of(self, scene: StaticScene) -> Renderer:
        other = copy.copy(self)
        other._scene = scene
        other._shadows, other._glows = ShadowMaps(other._scene), self._glows.of_scene(other._scene)
        other._grid, other._grid_lock = None, threading.Lock()
        return other

    def untagged(self, tags: frozenset[int]) -> Renderer:
        """Return a renderer of the same town without static meshes of some semantic tags."""
        other = copy.copy(self)
        other._scene = self._scene.untagged(tags)
        other._grid, other._grid_lock = None, threading.Lock()
        return other

    def painted(self, colours: Mapping[int, tuple[int, int, int]], lamps: Mapping[int, float]) -> Renderer:
        """Return a renderer of the same town with changed colours of static objects and brightness of lamp posts.

        Args:
            colours: sRGB by object id; panes and lamps keep their colour.
            lamps: brightness factor by object id.
        """
        other = copy.copy(self)
        other._scene = self._scene.painted(colours) if colours else self._scene
        other._glows = GlowMaps(self._scene, lamps) if lamps else self._glows
        return other if colours or lamps else self

    def render(
        self,
        view: View,
        movers: Movers,
        *,
        weather: Weather,
        signals: UInt8,
        time_s: float,
        want_bgra: bool,
        want_normal: bool = False,
        want_base: bool = False,
    ) -> RenderedImage:
        """Draw one view.

        Args:
            view: the camera.
            movers: all movers.
            weather: affects ``bgra`` only.
            signals: (L,) uint8 state of each traffic light (0 red, 1 yellow, 2 green, 3 off).
            time_s: simulation time; moves rain.
            want_bgra: also shade a colour image.
            want_normal: also return world normals.
            want_base: also return base colours.

        Raises:
            ValueError: the camera's numbers are out of range.
        """
        camera = pack(view)
        image = _image(view, want_bgra=want_bgra, want_normal=want_normal)
        light = light_of(weather)
        self._draw(image, view, movers, light=light, signals=signals, want_base=want_base)
        if image.bgra is None:
            return image
        radius_m = self._models.flying_radius_m[movers.model]
        for patch in patches_of(view, movers, radius_m):
            enlarged = _image(patch, want_bgra=True, want_normal=False)
            self._draw(enlarged, patch, movers, light=light, signals=signals)
            blend_patch(image, enlarged, patch, movers.actor_id[radius_m > 0.0])
        if light.rain > 0:
            words = image.bgra.reshape(-1).view(np.uint32)
            draw_rain(
                words, view.width, view.height, camera, light.rain, light.wind, light.rain_level,
                round(time_s * 1000),
            )  # fmt: skip
        return image

    def _draw(
        self,
        image: RenderedImage,
        view: View,
        movers: Movers,
        *,
        light: Light,
        signals: UInt8,
        want_base: bool = False,
    ) -> None:
        """Fill the buffers of an image, without rain."""
        camera = pack(view)
        models = self._models.pack(movers.model)
        size = view.width * view.height
        keys = np.zeros(size, np.int64)
        visible, starts = np.empty(size, np.int32), np.empty(size + 1, np.int32)
        scene = self._scene
        most_vertices = max(self._tile_vertices, int(np.diff(models.first_point).max(initial=0)), 1)
        screen, small = np.empty((3, most_vertices)), np.empty((SMALL, 4))
        draw_static(
            keys, view.width, view.height, camera,
            scene.points_m, scene.corners, scene.tile_box_m, scene.tile_points, scene.tile_triangles, screen, small,
        )  # fmt: skip
        world, drawn = np.empty((len(movers.model), 3, 4)), np.empty((len(movers.model), 2), np.int32)
        model_frames(movers.pose, world)
        model = models.row_of_model[movers.model]
        used = draw_movers(
            keys, view.width, view.height, camera, world, model, models.points_m, models.corners,
            models.first_point, models.first_triangle, models.sphere, len(scene.corners), drawn, screen, small,
        )  # fmt: skip
        surface, owner = np.empty((used, 6), np.float32), np.empty(used, np.int32)
        material, tag, ids = np.empty(used, np.uint8), np.empty(used, np.uint8), np.empty(used, np.uint32)
        mover_tables(
            drawn, world, model, models.first_triangle, models.surface, models.material, models.tag,
            movers.actor_id, linear(movers.colour_rgb), surface, material, tag, ids, owner,
        )  # fmt: skip
        resolve(
            keys, view.width, len(scene.corners), scene.ids, scene.tag, ids, tag, visible, starts,
            image.depth_m.ravel(), image.ids.ravel(), image.tag.ravel(),
        )  # fmt: skip
        if image.normal is not None:
            resolve_normals(visible, len(scene.corners), scene.surface, surface, image.normal.reshape(-1, 3))
        if want_base:
            image.base_rgb = base_colours(visible, scene.surface, surface).reshape(*image.tag.shape, 3)
        if image.bgra is not None:
            drawn_movers = _DrawnMovers(movers, models, model, world, surface, material, owner)
            self._shade(
                image, image.bgra, view, drawn_movers, light=light, signals=signals, visible=visible, starts=starts
            )

    def _shade(
        self,
        image: RenderedImage,
        bgra: UInt8,
        view: View,
        drawn: _DrawnMovers,
        *,
        light: Light,
        signals: UInt8,
        visible: Int32,
        starts: Int32,
    ) -> None:
        """Shade (H, W, 4) pixels; ``visible``: triangle of each pixel, ``starts``: first pixel of each run of one triangle."""
        scene, movers = self._scene, drawn.movers
        lane, small, runs = (np.empty(shape, np.float32) for shape in (LANES, (5, 6), (TILE, 13)))
        words = bgra.reshape(-1).view(np.uint32)
        glow, glow_frame = NO_GLOW, NO_GLOW_FRAME
        if light.numbers[NIGHT] > 0:
            glow, glow_frame = self._glows.of(movers, drawn.world, drawn.models.front_m[drawn.model])
        lit = self._lit(signals)
        heights, shadow = NO_HEIGHTS, NO_FRAME
        if light.shadows >= 0.02:
            heights, shadow = self._shadows.of(light.sun_deg, movers, drawn.world, drawn.model, drawn.models)
        shade(
            image.depth_m.ravel(), visible, starts, view.width, view.height, pack(view), len(scene.corners),
            scene.surface, scene.material, lit, drawn.surface, drawn.material, drawn.owner,
            movers.lights, light.numbers, noise_texture().ravel(), heights, shadow, glow, glow_frame, lane,
            small, runs, words,
        )  # fmt: skip

    def cast(
        self, origins_m: Float64, directions: Float64, max_range_m: float, movers: Movers
    ) -> tuple[Float32, UInt32, UInt8, Float32]:
        """Cast rays through the world.

        Args:
            origins_m: (N, 3) origins, or (3,) for a common one; Unreal's axes, metres.
            directions: (N, 3), of any length above 0.
            max_range_m: length of the rays.
            movers: the movers to hit, usually without the sensor's vehicle.

        Returns:
            (N,) distance in metres (inf without a hit), id as in ``RenderedImage.ids``, semantic tag (0 without a hit), and
            cosine of the angle between ray and surface normal.
        """
        directions = np.ascontiguousarray(directions, dtype=np.float64)
        origins = np.ascontiguousarray(np.broadcast_to(np.asarray(origins_m, dtype=np.float64), directions.shape))
        with self._grid_lock:
            if self._grid is None:
                self._grid = build_grid(self._scene)
            grid = self._grid
        models = self._models.pack(movers.model)
        world = np.empty((len(movers.model), 3, 4))
        model_frames(movers.pose, world)
        bounds = Bounds.of(np.atleast_2d(np.asarray(origins_m, dtype=np.float64)), float(max_range_m))
        model = models.row_of_model[movers.model]
        near, near_m = bounds.movers(world, models.sphere[model])
        count = len(directions)
        distance_m, cosine = np.empty(count, np.float32), np.empty(count, np.float32)
        ids, tag = np.empty(count, np.uint32), np.empty(count, np.uint8)
        cast_rays(
            origins, directions, bounds.reach_m, grid.frame, grid.first, grid.members, bounds.far_triangles(grid),
            grid.corner_m, grid.span_m,
            self._scene.ids, self._scene.tag, world[near], model[near], models.points_m, models.corners,
            models.first_triangle, models.sphere, models.tag, movers.actor_id[near], near_m, distance_m, ids, tag, cosine,
        )  # fmt: skip
        return distance_m, ids, tag, cosine

    def warm_up(self) -> None:
        """Call every kernel once on a tiny image, so that numba compiles or loads it."""
        view = View((0.0, 0.0, 30.0, -60.0, 0.0, 0.0), 16, 8, 90.0)
        mover = Movers(
            np.zeros(1, np.int32), np.zeros((1, 6)), np.ones(1, np.uint32), np.zeros((1, 3), np.uint8),
            np.full(1, 3, np.uint32),
        )  # fmt: skip
        signals = np.zeros(len(self._lamps[1]), dtype=np.uint8)
        for weather in (Weather(precipitation=60.0, wetness=60.0, fog_density=20.0), Weather(sun_altitude_angle=-30.0)):
            image = self.render(
                view, mover, weather=weather, signals=signals, time_s=0.0, want_bgra=True, want_normal=True
            )
        pixels = np.zeros((8, 16, 4), np.uint8)
        encode_instance(image.ids, image.tag, pixels)
        encode_depth(image.depth_m, pixels)
        optical_flow(image, view, mover, Before(view.pose, mover))
        event_pixels = EventPixels(Tuning((0.3, 0.3), (0.0, 0.0), 0, 0.001), np.random.default_rng(0))
        for time_ns in range(2):
            event_pixels.update(pixels, time_ns)
        self.cast(np.zeros(3), np.array([[0.0, 0.0, -1.0]]), 10.0, mover)

    def _lit(self, signals: UInt8) -> UInt8:
        """Return (T,) glow seeds of the triangles, 1 or 0 for lamps of signals; cached for the views of a tick."""
        states = np.asarray(signals, dtype=np.uint8)
        last_states, glow = self._last_lit
        if last_states == states.tobytes():
            return glow
        glow = self._scene.seed.copy()
        glow[self._is_lamp] = 0
        triangle, owner, lit_in = self._lamps
        known = owner < len(states)
        glow[triangle[known]] = states[owner[known]] == lit_in[known]
        self._last_lit = states.tobytes(), glow
        return glow


def _image(view: View, *, want_bgra: bool, want_normal: bool) -> RenderedImage:
    """Return an image with the requested buffers, whose content is unspecified."""
    shape = (view.height, view.width)
    return RenderedImage(
        np.empty(shape, np.float32),
        np.empty(shape, np.uint32),
        np.empty(shape, np.uint8),
        np.empty((*shape, 3), np.float32) if want_normal else None,
        np.empty((*shape, 4), np.uint8) if want_bgra else None,
    )
