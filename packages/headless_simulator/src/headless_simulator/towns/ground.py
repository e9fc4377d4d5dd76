"""Terrain under and around a town: a height field and its triangles."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.ndimage import distance_transform_edt, gaussian_filter

from headless_simulator.scene import Float32, Float64, Ground, Int32, UInt8
from headless_simulator.towns.arrays import Bools
from headless_simulator.towns.network import DRIVABLE
from headless_simulator.towns.raster import Grid, bilinear, draw
from headless_simulator.towns.strips import Strip, outer_lanes
from headless_simulator.towns.surfaces import is_raised, strip_triangles
from headless_simulator.towns.water import River

OPEN, VERGE, WALK, FLOOR, ROAD = range(5)  # cover of a point, in ascending priority
MARGIN_M: Final = 80.0  # of the fine grid round the roads
_REACH_M: Final = 560.0  # of the terrain round the roads
_CELL_M: Final = 8.0  # of the terrain mesh
_COARSE: Final = 5  # inner cells per outer cell
_FAR_M: Final = 6000.0
_VERGE_M: Final = 3.0
_VERGE_BELOW_M: Final = 0.03  # verges begin under the junctions' floors, which other verges overlap
_FALL_M: Final = 0.2  # of verges in junctions, so that they stay under other ways
_UNDER_ROAD_M: Final = 0.12
_BRIDGE_M: Final = 3.5  # vertical gap between a bridge and the road below
_BESIDE_M: Final = 4.0  # margin of the road under a bridge, beside its lanes
_FINE_POINTS: Final = 1_600_000
_MOST_FINE_POINTS: Final = 12_000_000  # of a town of many square kilometres
_LARGE_M: Final = 2.0  # it may have more points down to this step
_WIDE_AREA_M2: Final = 60e6  # a larger town has coarser terrain


@dataclass(frozen=True, slots=True, eq=False)
class Land:
    """The ground of a town.

    Attributes:
        fine: grid of ``height_m`` and ``cover``.
        height_m: (Y, X) drivable and walkable height, on bridges of the upper road.
        under_m: (Y, X) height of the lower road and its margin below bridges, nan elsewhere; (0, 0) without bridges.
        cover: (Y, X) OPEN, VERGE, WALK, FLOOR or ROAD.
        clear_m: (Y, X) distance to the nearest covered point except verges.
        wide: coarse grid of ``field_m``, the height of detailed open land.
        terrain: (N, 3, 3) triangles of open land.
        verges: (N, 4, 3) quads beside roads.
    """

    fine: Grid
    height_m: Float64
    under_m: Float32
    cover: UInt8
    clear_m: Float64
    wide: Grid
    field_m: Float64
    terrain: Float64
    verges: Float64

    @property
    def rim(self) -> tuple[Float64, Float64]:
        """Return the (2,) low and high corner of the fine grid, metres."""
        low = np.asarray(self.fine.low_m, dtype=np.float64)
        return low, low + self.fine.cell_m * (np.array(self.fine.shape[::-1]) - 1)

    def height_at(self, xy_m: Float64) -> Float64:
        """Return (...,) ground heights at (..., 2) points, metres."""
        return bilinear(self.fine, self.height_m, xy_m)

    def far_height_at(self, xy_m: Float64) -> Float64:
        """Return (...,) heights of open land at (..., 2) points, metres, also outside the fine grid."""
        return bilinear(self.wide, self.field_m, xy_m)

    def clear_at(self, xy_m: Float64) -> Float64:
        """Return (...,) distances of (..., 2) points to the nearest road or sidewalk, metres, also outside the grid."""
        i, j = self.fine.pixels(xy_m)
        low, high = self.rim
        over = np.maximum(np.maximum(low - xy_m, xy_m - high), 0.0)
        return np.asarray(self.clear_m[i, j] + np.hypot(over[..., 0], over[..., 1]), dtype=np.float64)

    def as_ground(self) -> Ground:
        """Convert to the servers' record."""
        height = np.ascontiguousarray(self.height_m, dtype=np.float32)
        return Ground(self.fine.low_m, self.fine.cell_m, height, self.under_m)


def build_land(
    strips: list[Strip], floors: dict[str, Float64], shape: tuple[float, River], rng: np.random.Generator
) -> Land:
    """Build the ground of a road network.

    Args:
        strips: all lanes.
        floors: (N, 3, 3) triangles of each junction's floor.
        shape: height of hills away from the roads, metres, and the river.
        rng: random generator of the hills.
    """
    points = np.concatenate([np.concatenate([strip.inner_m, strip.outer_m]) for strip in strips])
    low, high = points[:, :2].min(axis=0), points[:, :2].max(axis=0)
    area = float(np.prod(high - low + 2 * MARGIN_M))
    cell = 0.5
    most = np.clip(area / _LARGE_M**2, _FINE_POINTS, _MOST_FINE_POINTS)
    while area / cell**2 > most:
        cell *= 1.4142135623730951 if cell > 0.6 else 2.0
    fine = Grid.around(low - MARGIN_M, high + MARGIN_M, cell)
    road = np.concatenate([strip_triangles(strip) for strip in strips if not is_raised(strip)])
    floor = np.concatenate([*floors.values(), np.empty((0, 3, 3))])
    raised = np.concatenate([*(strip_triangles(strip) for strip in strips if is_raised(strip)), np.empty((0, 3, 3))])

    height = np.full(fine.shape[0] * fine.shape[1], np.nan)
    for triangles in (floor, road):
        pixels, z, _ = draw(fine, triangles)
        height[pixels] = z
    hills_m, river = shape
    field, wide = _terrain_field(fine, height.reshape(fine.shape), points, (hills_m, rng))
    if len(river.line_m):
        river.carve(field, wide)
    inner = _inner_mesh(wide, fine, field, road, floor, raised)
    verges = _verges(strips, wide, field)
    verges = verges[~river.spanned(verges[:, :2, :2].mean(axis=1))]
    cover = np.zeros(fine.shape[0] * fine.shape[1], dtype=np.uint8)
    ground, lowest, highest = (np.full(len(cover), start) for start in (np.nan, np.inf, -np.inf))
    spread = np.concatenate([_widened(strip, 1.5 * cell) for strip in strips if strip.kind in DRIVABLE] or [road])
    verge = verges[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3, 3)
    layers = ((inner, OPEN), (verge, VERGE), (raised, WALK), (floor, FLOOR), (spread, None), (road, ROAD))
    for triangles, kind in layers:
        pixels, z, _ = draw(fine, triangles)
        if kind == VERGE:  # a verge never covers a higher surface
            np.maximum.at(ground, pixels, z)
        else:
            ground[pixels] = z
        if kind not in (OPEN, VERGE):
            np.minimum.at(lowest, pixels, z)
            np.maximum.at(highest, pixels, z)
        if kind is not None:
            cover[pixels] = kind
    crossing = highest - lowest > _BRIDGE_M
    ground[crossing] = highest[crossing]
    rim = np.isnan(ground)
    if rim.any():
        x, y = fine.axes_m()
        xy = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)[rim]
        ground[rim] = bilinear(wide, field, xy)
    under = _under(ground.reshape(fine.shape), lowest.reshape(fine.shape), crossing.reshape(fine.shape), cell)
    covered = (cover >= WALK).reshape(fine.shape)
    clear = distance_transform_edt(~covered) * cell if covered.any() else np.full(fine.shape, 1e3)
    terrain = np.concatenate([inner, _outer_mesh(wide, fine, field)])
    height_m, covers = ground.reshape(fine.shape), cover.reshape(fine.shape)
    return Land(fine, height_m, under, covers, clear, wide, field, terrain, verges)


def _under(top: Float64, lowest: Float64, crossing: Bools, cell_m: float) -> Float32:
    """Return (Y, X) heights below bridges, extended sideways under the bridge; (0, 0) without bridges."""
    if not crossing.any():
        return np.empty((0, 0), np.float32)
    away, (rows, columns) = distance_transform_edt(~crossing, return_indices=True)
    below = lowest[rows, columns]
    beside = (away * cell_m <= _BESIDE_M) & (top - below > _BRIDGE_M)
    return np.where(beside, below, np.nan).astype(np.float32)


def _widened(strip: Strip, by_m: float) -> Float64:
    """Return a lane's (N, 3, 3) triangles, widened, so that grid points beside it continue its plane."""
    side = strip.outer_m - strip.inner_m
    side = side / np.maximum(np.linalg.norm(side[:, :2], axis=1, keepdims=True), 0.5) * by_m
    inner, outer = strip.inner_m - side, strip.outer_m + side
    quads = np.stack([inner[:-1], inner[1:], outer[1:], outer[:-1]], axis=1)
    return np.ascontiguousarray(quads[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3, 3))


def _terrain_field(
    fine: Grid, road_m: Float64, points: Float64, hills: tuple[float, np.random.Generator]
) -> tuple[Float64, Grid]:
    """Return (Y, X) heights of open land and their coarse grid: smooth between the roads, hilly away from them."""
    low, high = points[:, :2].min(axis=0) - _REACH_M, points[:, :2].max(axis=0) + _REACH_M
    cell = _CELL_M * max(1.0, float(np.prod(high - low)) / _WIDE_AREA_M2) ** 0.5
    wide = Grid.around(low, high, cell * _COARSE)
    wide = Grid(wide.low_m, cell, ((wide.shape[0] - 1) * _COARSE + 1, (wide.shape[1] - 1) * _COARSE + 1))
    known = ~np.isnan(road_m)
    rows, columns = np.nonzero(known)
    x, y = fine.axes_m()
    i, j = wide.pixels(np.stack([x[columns], y[rows]], axis=1))
    flat = i.astype(np.int64) * wide.shape[1] + j
    size = wide.shape[0] * wide.shape[1]
    weight = np.bincount(flat, minlength=size).astype(np.float64)
    total = np.bincount(flat, weights=road_m[known], minlength=size)
    mean = np.where(weight > 0, total / np.maximum(weight, 1), 0.0).reshape(wide.shape)
    occupied = (weight > 0).astype(np.float64).reshape(wide.shape)
    field = np.full(wide.shape, float(road_m[known].mean()))
    if np.ptp(road_m[known]) > 1e-6:
        for sigma in (24.0, 12.0, 6.0, 3.0, 1.5):
            share = gaussian_filter(occupied, sigma, mode="constant")
            local = gaussian_filter(mean * occupied, sigma, mode="constant") / np.maximum(share, 1e-9)
            trust = share / (share + 0.02)
            field = trust * local + (1 - trust) * field
    height, rng = hills
    if height > 0:
        away = distance_transform_edt(occupied == 0) * cell
        ramp = np.clip((away - 14) / 90, 0, 1) ** 1.5
        noise = sum(
            gaussian_filter(rng.standard_normal(wide.shape), sigma) * sigma * share
            for sigma, share in ((5, 0.6), (12, 1.4))
        )
        field = field + ramp * height * np.asarray(noise)
    return np.asarray(field, dtype=np.float64), wide


def _cells(wide: Grid, field: Float64, step: int) -> tuple[Float64, Float64]:
    """Return every ``step``-th (Y, X, 3) point of the field, and (Y - 1, X - 1, 2) cell centres."""
    x, y = wide.axes_m()
    xs, ys = np.meshgrid(x[::step], y[::step])
    points = np.stack([xs, ys, field[::step, ::step]], axis=-1)
    return points, (points[:-1, :-1, :2] + points[1:, 1:, :2]) / 2


def _cell_triangles(points: Float64, keep: Bools) -> Float64:
    quads = np.stack([points[:-1, :-1], points[:-1, 1:], points[1:, 1:], points[1:, :-1]], axis=2)[keep]
    return np.ascontiguousarray(quads[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3, 3))


def _inside(fine: Grid, centres: Float64, slack_m: float) -> Bools:
    high = np.asarray(fine.low_m) + fine.cell_m * (np.array(fine.shape[::-1]) - 1)
    inside = (centres > np.asarray(fine.low_m) + slack_m) & (centres < high - slack_m)
    return np.asarray(inside.all(axis=-1))


def _inner_mesh(wide: Grid, fine: Grid, field: Float64, *covers: Float64) -> Float64:
    """Return (N, 3, 3) terrain near the roads, lowered (also in ``field``) below all roads and sidewalks."""
    over = np.full(fine.shape[0] * fine.shape[1], np.inf)
    for triangles in covers:
        pixels, z, _ = draw(fine, triangles)
        np.minimum.at(over, pixels, z)
    rows, columns = np.nonzero(np.isfinite(over).reshape(fine.shape))
    x, y = fine.axes_m()
    spots = np.stack([x[columns], y[rows]], axis=1)
    limit = over.reshape(fine.shape)[rows, columns] - _UNDER_ROAD_M
    corner = np.floor((spots - wide.low_m) / wide.cell_m).astype(np.int64)
    j, i = corner[:, 0], corner[:, 1]
    # A cell's triangles never exceed its highest corner: keep the corners below the lowest point of the cells around.
    lowest = np.full(field.shape, np.inf)
    for di in (0, 1):
        for dj in (0, 1):
            np.minimum.at(lowest, (i + di, j + dj), limit)
    np.minimum(field, lowest, out=field)
    points, centres = _cells(wide, field, 1)
    return _cell_triangles(points, _inside(fine, centres, -wide.cell_m * _COARSE))


def _outer_mesh(wide: Grid, fine: Grid, field: Float64) -> Float64:
    """Return (N, 3, 3) wider outer cells, and the plain to the horizon."""
    points, centres = _cells(wide, field, _COARSE)
    lowered = points - (0.0, 0.0, 0.25)
    outer = _cell_triangles(lowered, ~_inside(fine, centres, 0.0))
    (x0, y0), (x1, y1) = points[0, 0, :2], points[-1, -1, :2]
    level = float(np.median(np.concatenate([field[0], field[-1], field[:, 0], field[:, -1]]))) - 0.6
    xs, ys = (x0 - _FAR_M, x0, x1, x1 + _FAR_M), (y0 - _FAR_M, y0, y1, y1 + _FAR_M)
    grid = np.stack([*np.meshgrid(xs, ys), np.full((4, 4), level)], axis=-1)
    keep = np.ones((3, 3), dtype=bool)
    keep[1, 1] = False
    return np.concatenate([outer, _cell_triangles(grid, keep)])


def _verges(strips: list[Strip], wide: Grid, field: Float64) -> Float64:
    """Return (N, 4, 3) quads from the outer edge of every road side down to the open land."""
    parts = [np.empty((0, 4, 3))]
    for strip in outer_lanes(strips):
        if strip.kind == "curb":
            continue  # an island's kerb, with its own surface behind it
        edge = strip.outer_m - (0.0, 0.0, _VERGE_BELOW_M)
        side = strip.outer_m - strip.inner_m
        side = side / np.maximum(np.linalg.norm(side[:, :2], axis=1, keepdims=True), 1e-6)
        far = edge + side * (_VERGE_M, _VERGE_M, 0.0)
        land = bilinear(wide, field, far[:, :2]) - 0.1
        far[:, 2] = np.minimum(land, edge[:, 2] - _FALL_M) if strip.junction else land
        parts.append(np.stack([edge[:-1], edge[1:], far[1:], far[:-1]], axis=1))
    return np.concatenate(parts)


def label_of(land: Land, xy_m: Float64) -> Int32:
    """Return the (...,) cover of (..., 2) points: OPEN, VERGE, WALK, FLOOR or ROAD."""
    i, j = land.fine.pixels(xy_m)
    return land.cover[i, j].astype(np.int32)
