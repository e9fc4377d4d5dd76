"""Voxels of one sample: static surfaces, moving objects, free space, and visibility for each camera."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from uavsim.access import Boxes, Sample
from uavsim.errors import DatasetError
from uavsim.geometry.se3 import SE3
from uavsim.occupancy import kernels
from uavsim.occupancy.classes import FREE, UNKNOWN, classes_of_categories
from uavsim.occupancy.grids import Grid
from uavsim.occupancy.shapes import Shapes, keys_of
from uavsim.occupancy.town import PASSED_M, SURFACE_M, Town, images_with_rays
from uavsim.records.channels import agent_id
from uavsim.typing import AnyArray, BoolArray, FloatArray, UInt8Array, UInt16Array

_MOST_CAMERAS: Final = 64


@dataclass(frozen=True, slots=True, eq=False)
class Occupancy:
    """The voxels of a sample.

    Attributes:
        grid: the grid.
        semantics: (X, Y, Z) classes, ``FREE`` or ``UNKNOWN``.
        instance: (X, Y, Z) 1 + the row of the box that fills a voxel; 0 of static surfaces and free space.
        visible_bits: (X, Y, Z) uint64; bit n is set if a ray of image n passes or ends in the voxel.
        lidar: (X, Y, Z) whether a lidar ray passes or ends in the voxel.
        channels: channels of the images, in the order of the bits.
        agents: agents of the images, as channels name them.
    """

    grid: Grid
    semantics: UInt8Array
    instance: UInt16Array
    visible_bits: AnyArray
    lidar: BoolArray
    channels: tuple[str, ...]
    agents: tuple[str, ...]

    def seen_by(self, agent: str | None = None, channel: str | None = None) -> BoolArray:
        """Return (X, Y, Z) whether an agent, a camera, or by default any camera sees a voxel."""
        bits = 0
        for bit, (owner, name) in enumerate(zip(self.agents, self.channels, strict=True)):
            bits |= (agent in {None, owner} and channel in {None, name}) << bit
        return np.asarray((self.visible_bits & np.uint64(bits)) != 0)

    def agents_that_see(self) -> UInt8Array:
        """Return (X, Y, Z) numbers of agents that see each voxel."""
        count = np.zeros(self.semantics.shape, dtype=np.uint8)
        for agent in dict.fromkeys(self.agents):
            count += self.seen_by(agent)
        return count

    @property
    def occupied(self) -> BoolArray:
        """(X, Y, Z) whether a voxel is occupied."""
        return np.asarray(self.semantics < FREE)

    def flow_m(self, now: Boxes, then: Boxes, grid_then: Grid | None = None) -> FloatArray:
        """Return the flow of the occupied voxels to another sample.

        Args:
            now: boxes of the sample.
            then: boxes of the sample before or after.
            grid_then: grid of that sample; default: the same grid, which gives motion over ground.

        Returns:
            (N, 3) motion of the N occupied voxels in C order, metres along the grid's axes; objects without a box then are
            at rest.
        """
        points: FloatArray = np.asarray((np.argwhere(self.occupied) + 0.5) * self.grid.voxel_m)
        owner = self.instance[self.occupied].astype(np.int64) - 1
        later = {token: row for row, token in enumerate(then.instance_tokens)}
        moved = self.grid.map_SE3_grid.apply(points)
        for row in np.unique(owner[owner >= 0]).tolist():
            row_then = later.get(now.instance_tokens[row])
            if row_then is not None:
                part = owner == row
                moved[part] = then.map_SE3_box[row_then].apply(now.map_SE3_box[row].apply_inverse(moved[part]))
        return (grid_then or self.grid).map_SE3_grid.apply_inverse(moved) - points


def label_sample(sample: Sample, grid: Grid, town: Town, shapes: Shapes) -> Occupancy:
    """Return the voxels of a sample.

    Args:
        sample: the sample.
        grid: the grid.
        town: scan of the static town.
        shapes: shapes of the moving objects.

    Raises:
        DatasetError: an image has no depth, or the sample has more than 64 images.
    """
    if len(sample.images) > _MOST_CAMERAS:
        raise DatasetError(f"{sample.scene_name}: sample {sample.number} has more than {_MOST_CAMERAS} cameras")
    grid_SE3_map = grid.map_SE3_grid.inverse()
    semantics = np.full(grid.size, UNKNOWN, dtype=np.uint8)
    instance = np.zeros(grid.size, dtype=np.uint16)
    lead = np.zeros(grid.size, dtype=np.int32)
    turn, origin = grid_SE3_map.rotation, grid_SE3_map.translation_m
    kernels.vote(town.voxels, town.classes, town.hits, SURFACE_M, turn, origin, grid.voxel_m, semantics, lead)
    _fill_objects(sample.boxes, grid, shapes, semantics, instance)
    visible_bits = _bits(sample, grid_SE3_map, grid, semantics, instance)
    lidar = _visible_to_lidar(sample, grid_SE3_map, grid)
    semantics[(semantics == UNKNOWN) & ((visible_bits != 0) | lidar)] = FREE
    back = grid.map_SE3_grid
    kernels.look_up(semantics, FREE, town.passed, town.first, PASSED_M, back.rotation, back.translation_m, grid.voxel_m)
    return Occupancy(
        grid=grid,
        semantics=semantics,
        instance=instance,
        visible_bits=visible_bits,
        lidar=lidar,
        channels=tuple(image.channel for image in sample.images),
        agents=tuple(agent_id(image.channel) for image in sample.images),
    )


def _fill_objects(boxes: Boxes, grid: Grid, shapes: Shapes, semantics: UInt8Array, instance: UInt16Array) -> None:
    if not len(boxes):
        return
    grid_SE3_box = grid.map_SE3_grid.inverse() @ boxes.map_SE3_box
    turns, centres = grid_SE3_box.rotation, grid_SE3_box.translation_m
    kinds = classes_of_categories(boxes.categories)
    for n, key in enumerate(keys_of(boxes)):
        size = boxes.size_lwh_m[n]
        solid = shapes.solid(key, size)
        kernels.fill(solid, size / 2, turns[n], centres[n], grid.voxel_m, n + 1, int(kinds[n]), semantics, instance)


def _bits(sample: Sample, grid_SE3_map: SE3, grid: Grid, semantics: UInt8Array, instance: UInt16Array) -> AnyArray:
    """Return (X, Y, Z) bits of the images that see a voxel; mark visible parts of objects outside their boxes as well."""
    bits, boxes = np.zeros(grid.size, dtype=np.uint64), sample.boxes
    numbers = np.zeros(int(boxes.instance_id.max(initial=0)) + 1, dtype=np.uint16)
    numbers[boxes.instance_id] = np.arange(1, len(boxes) + 1)
    kinds = np.insert(classes_of_categories(boxes.categories), 0, UNKNOWN)
    for bit, (image, rays) in enumerate(images_with_rays(sample)):
        depth_m, pose = image.depth_m(), grid_SE3_map @ image.map_SE3_optical
        turn, origin = pose.rotation, pose.translation_m
        focal_px, mark = float(image.intrinsic[0, 0]), np.uint64(1 << bit)
        kernels.trace(depth_m, rays, turn, origin / grid.voxel_m, grid.voxel_m, focal_px, bits, mark, False)
        if len(boxes):
            ids, _ = image.mask()
            kernels.mark(depth_m, ids, rays, turn, origin, grid.voxel_m, numbers, kinds, semantics, instance)
    return bits


def _visible_to_lidar(sample: Sample, grid_SE3_map: SE3, grid: Grid) -> BoolArray:
    bits = np.zeros(grid.size, dtype=np.uint64)
    for scan in sample.lidars:
        pose = grid_SE3_map @ scan.map_SE3_sensor
        rays = np.ascontiguousarray(scan.points()[None, :, :3], dtype=np.float32)
        ones = np.ones(rays.shape[:2], dtype=np.float32)
        eye = pose.translation_m / grid.voxel_m
        kernels.trace(ones, rays, pose.rotation, eye, grid.voxel_m, 0.0, bits, np.uint64(1), False)
    return np.asarray(bits != 0)
