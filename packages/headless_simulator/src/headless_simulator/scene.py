"""Scene types shared by towns, vehicles, servers and renderer.

Coordinates are in Unreal's axes in metres: x forward, y right, z up, left-handed; rotations are (pitch, yaw, roll) in
degrees, as in CARLA. This package shares no code with uavsim, so that errors are independent.
"""

from dataclasses import dataclass, field
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

Float32: TypeAlias = npt.NDArray[np.float32]
Float64: TypeAlias = npt.NDArray[np.float64]
Int32: TypeAlias = npt.NDArray[np.int32]
UInt8: TypeAlias = npt.NDArray[np.uint8]
UInt16: TypeAlias = npt.NDArray[np.uint16]
UInt32: TypeAlias = npt.NDArray[np.uint32]

# CARLA 0.9.14+ semantic tags (CityObjectLabel).
TAG: Final[dict[str, int]] = {
    "unlabeled": 0, "road": 1, "sidewalk": 2, "building": 3, "wall": 4, "fence": 5, "pole": 6, "traffic_light": 7,
    "traffic_sign": 8, "vegetation": 9, "terrain": 10, "sky": 11, "pedestrian": 12, "rider": 13, "car": 14, "truck": 15,
    "bus": 16, "train": 17, "motorcycle": 18, "bicycle": 19, "static": 20, "dynamic": 21, "other": 22, "water": 23,
    "road_line": 24, "ground": 25, "bridge": 26, "rail_track": 27, "guard_rail": 28,
}  # fmt: skip

# How a surface is shaded; numbers are stored per triangle.
MATTE: Final = 0  # ground, walls, foliage
ASPHALT: Final = 1  # darkens and shines when wet
GLASS: Final = 2  # windscreens, shop windows
WINDOW: Final = 3  # facade windows: some are lit at night
PAINT: Final = 4  # car bodies: a highlight
FOLIAGE: Final = 5  # colour varies with position
HEAD_LIGHT: Final = 6  # emits when the vehicle's low or high beam is on, or at night under autopilot
TAIL_LIGHT: Final = 7  # emits with the position light, brighter with the brake
SIGNAL_RED: Final = 8  # traffic light lamps: emit when their light is in that state
SIGNAL_YELLOW: Final = 9
SIGNAL_GREEN: Final = 10


@dataclass(frozen=True, slots=True, eq=False)
class Mesh:
    """Triangles with a flat colour each.

    Attributes:
        vertices_m: (V, 3) float32.
        triangles: (T, 3) int32 vertex numbers; winding does not matter (both sides are drawn).
        colour_rgb: (T, 3) uint8 albedo, sRGB.
        tag: (T,) uint8 semantic tag.
        material: (T,) uint8, one of the numbers above.
        object_id: (T,) uint32 id of the triangle's static object (0: ground and other unnumbered surfaces).
    """

    vertices_m: Float32
    triangles: Int32
    colour_rgb: UInt8
    tag: UInt8
    material: UInt8
    object_id: UInt32


@dataclass(frozen=True, slots=True)
class SignalHead:
    """One traffic light of a junction.

    Attributes:
        pose: (x, y, z, pitch, yaw, roll) of the pole's base.
        opendrive_id: signal id in the OpenDRIVE file.
        group: number shared by the lights of one junction, which cycle through their stages.
        stage: lights of one group and stage are green together.
        stop_lines: (N, 6) lane poses (x, y, z, pitch, yaw, roll) of this light's stop lines.
        trigger: (x, y, z, half_x, half_y, half_z, yaw_deg) box on the approach lanes in which a vehicle is "at" the light.
        lamp_triangles: triangle numbers in the static mesh of the red, yellow and green lamps.
    """

    pose: tuple[float, float, float, float, float, float]
    opendrive_id: str
    group: int
    stage: int
    stop_lines: Float64
    trigger: tuple[float, float, float, float, float, float, float]
    lamp_triangles: Int32


@dataclass(frozen=True, slots=True)
class StaticObject:
    """A static object of the town: building, tree, parked vehicle, pole, prop.

    Attributes:
        object_id: as in ``Mesh.object_id``; unique in the town, from 1.
        name: name in ``get_environment_objects`` and AirSim's ``simListSceneObjects``.
        tag: semantic tag.
        pose: (x, y, z, pitch, yaw, roll).
        box_centre_m: world centre of its bounding box.
        box_half_m: half extents in the axes of ``pose``.
        blueprint: blueprint id of a parked vehicle, else "".
    """

    object_id: int
    name: str
    tag: int
    pose: tuple[float, float, float, float, float, float]
    box_centre_m: tuple[float, float, float]
    box_half_m: tuple[float, float, float]
    blueprint: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """Height of the drivable and walkable ground on a regular grid with bilinear interpolation.

    Attributes:
        origin_m: (x, y) of ``height_m[0, 0]``.
        cell_m: grid step.
        height_m: (Y, X) float32 heights; on bridges, those of the upper road.
        under_m: (Y, X) float32 heights below bridges, nan elsewhere; empty in a town without bridges.
    """

    origin_m: tuple[float, float]
    cell_m: float
    height_m: Float32
    under_m: Float32 = field(default_factory=lambda: np.empty((0, 0), np.float32))


@dataclass(frozen=True, slots=True, eq=False)
class Town:
    """A loaded town.

    Attributes:
        name: ``Town10HD``.
        opendrive: the clients' OpenDRIVE text.
        spawn_points: (N, 6) recommended vehicle spawn poses (x, y, z, pitch, yaw, roll).
        mesh: the static mesh with signals and parked vehicles.
        ground: ground heights for wheels, feet and collisions.
        signals: traffic lights in the order in which they become actors.
        objects: the objects of ``get_environment_objects``, by object id.
        walk_polygons: convex polygons [(x, y, z), ...] with an area name (sidewalk, crosswalk, road, grass).
        crosswalks: closed outlines, (N, 3) each.
        speed_limits: (N, 3) x, y, limit in km/h, sampled about every 10 m of lane.
        traffic_signs: (blueprint id, pose, OpenDRIVE id) of signs that become actors (traffic.speed_limit.30, ...).
        georeference: (latitude, longitude) of the origin.
    """

    name: str
    opendrive: str
    spawn_points: Float64
    mesh: Mesh
    ground: Ground
    signals: tuple[SignalHead, ...]
    objects: tuple[StaticObject, ...]
    walk_polygons: tuple[tuple[tuple[tuple[float, float, float], ...], str], ...]
    crosswalks: tuple[Float64, ...]
    speed_limits: Float64
    traffic_signs: tuple[tuple[str, tuple[float, float, float, float, float, float], str], ...] = ()
    georeference: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Movers:
    """The movable actors of one tick for the renderer: row i is drawn with model ``model[i]``.

    Attributes:
        model: (N,) int32 number from ``ModelLibrary.number(blueprint)``.
        pose: (N, 6) float64 x, y, z, pitch, yaw, roll of the actor's origin.
        actor_id: (N,) uint32 actor id, shown in instance images.
        colour_rgb: (N, 3) uint8 body colour.
        lights: (N,) uint32 CARLA's VehicleLightState bits (1 position, 2 low beam, 4 high beam, 8 brake, ...).
    """

    model: Int32
    pose: Float64
    actor_id: UInt32
    colour_rgb: UInt8
    lights: UInt32


@dataclass(frozen=True, slots=True)
class Window:
    """An enlarged part of an image: its position and the whole image's size, pixels, and the magnification."""

    left: int
    top: int
    whole_width: int
    whole_height: int
    zoom: int


@dataclass(frozen=True, slots=True)
class View:
    """A pinhole camera: pose (x, y, z, pitch, yaw, roll), size, horizontal field of view.

    With a window, size is that of the enlarged part and the field of view is the whole image's.
    """

    pose: tuple[float, float, float, float, float, float]
    width: int
    height: int
    fov_deg: float
    window: Window | None = None


@dataclass(frozen=True, slots=True)
class Weather:
    """CARLA's 14 weather parameters, by name, in wire order."""

    cloudiness: float = 0.0
    precipitation: float = 0.0
    precipitation_deposits: float = 0.0
    wind_intensity: float = 0.0
    sun_azimuth_angle: float = 0.0
    sun_altitude_angle: float = 45.0
    fog_density: float = 0.0
    fog_distance: float = 0.0
    fog_falloff: float = 0.0
    wetness: float = 0.0
    scattering_intensity: float = 0.0
    mie_scattering_scale: float = 0.0
    rayleigh_scattering_scale: float = 0.0331
    dust_storm: float = 0.0


@dataclass(slots=True, eq=False)
class RenderedImage:
    """The result of one raster pass.

    Attributes:
        depth_m: (H, W) float32 distance along the optical axis (planar depth); +inf where sky.
        ids: (H, W) uint32 actor id of movers (object_id of static objects + ``STATIC_ID`` bit, 0 for ground).
        tag: (H, W) uint8.
        normal: (H, W, 3) float32 world normal, or None if not requested.
        bgra: (H, W, 4) uint8, or None if not requested.
        base_rgb: (H, W, 3) uint8 sRGB base colour, black where sky, or None if not requested.
    """

    depth_m: Float32
    ids: UInt32
    tag: UInt8
    normal: Float32 | None = None
    bgra: UInt8 | None = None
    base_rgb: UInt8 | None = None


Tile: TypeAlias = tuple[int, int]  # of a large map: its number along x and y
MAP_TILE_M: Final = 2000.0  # its side; CARLA 0.9.16, LargeMapManager.h

STATIC_ID: Final = 0x8000_0000  # set in RenderedImage.ids for static objects
