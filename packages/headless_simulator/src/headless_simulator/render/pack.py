"""Models concatenated into arrays for the kernels; the pack grows on a model's first use."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headless_simulator.models import ModelLibrary
from headless_simulator.render.tiles import linear, unit_normals
from headless_simulator.scene import HEAD_LIGHT, PAINT, Float32, Float64, Int32, Mesh, UInt8


@dataclass(frozen=True, slots=True, eq=False)
class ModelPack:
    """Concatenated models, in metres and each actor's frame.

    Attributes:
        row_of_model: (models of the library,) int32 row of each model in this pack, -1 if it is not packed.
        points_m: (3, V) float32.
        corners: (T, 3) int32.
        first_point: (M + 1,) int32.
        first_triangle: (M + 1,) int32.
        sphere: (M, 7) float64 bounding sphere (centre, radius) and half size of the box with the same centre.
        front_m: (M,) float64 distance of the front from the origin, 0 for models without head lights.
        surface: (T, 6) float32 linear albedo and unit normal.
        material: (T,) uint8.
        tag: (T,) uint8.
    """

    row_of_model: Int32
    points_m: Float32
    corners: Int32
    first_point: Int32
    first_triangle: Int32
    sphere: Float64
    front_m: Float64
    surface: Float32
    material: UInt8
    tag: UInt8


class ModelStore:
    """Packs models on demand; a returned pack never changes."""

    def __init__(self, models: ModelLibrary) -> None:
        self._models = models
        self._lock = threading.Lock()
        self._numbers: list[int] = []
        self._pack = self._build([])

    @property
    def flying_radius_m(self) -> Float64:
        """See ``ModelLibrary.flying_radius_m``."""
        return self._models.flying_radius_m

    def pack(self, needed: Int32) -> ModelPack:
        """Return a pack with at least the models of the (N,) int32 numbers in ``needed``."""
        pack = self._pack
        if not len(needed) or (needed.max() < len(pack.row_of_model) and pack.row_of_model[needed].min() >= 0):
            return pack
        with self._lock:
            missing = sorted(set(needed.tolist()) - set(self._numbers))
            if missing:
                self._numbers = [*self._numbers, *missing]
                self._pack = self._build(self._numbers)
            return self._pack

    def _build(self, numbers: list[int]) -> ModelPack:
        meshes = [self._models.mesh(number) for number in numbers]
        points = np.cumsum([0] + [len(mesh.vertices_m) for mesh in meshes]).astype(np.int32)
        triangles = np.cumsum([0] + [len(mesh.triangles) for mesh in meshes]).astype(np.int32)
        row_of_model = np.full(len(self._models), -1, dtype=np.int32)
        row_of_model[numbers] = np.arange(len(numbers))
        corners = [mesh.triangles + first for mesh, first in zip(meshes, points[:-1], strict=True)]
        return ModelPack(
            row_of_model=row_of_model,
            points_m=np.ascontiguousarray(_stack([mesh.vertices_m for mesh in meshes], 3).T, dtype=np.float32),
            corners=np.ascontiguousarray(_stack(corners, 3), dtype=np.int32),
            first_point=points,
            first_triangle=triangles,
            sphere=np.array([_sphere(mesh) for mesh in meshes]).reshape(-1, 7),
            front_m=np.array([_front_m(mesh) for mesh in meshes], dtype=np.float64),
            surface=_stack([np.hstack([_albedo(mesh), unit_normals(mesh)]) for mesh in meshes], 6).astype(np.float32),
            material=np.concatenate([np.zeros(0, np.uint8), *(mesh.material for mesh in meshes)]),
            tag=np.concatenate([np.zeros(0, np.uint8), *(mesh.tag for mesh in meshes)]),
        )


def _stack(parts: Sequence[Float32 | Int32], columns: int) -> Float64:
    return np.concatenate([np.zeros((0, columns)), *parts])


def _albedo(mesh: Mesh) -> Float32:
    """Return (T, 3) linear albedo; for paint, the factor on the mover's colour."""
    plain = linear(mesh.colour_rgb)
    return np.where((mesh.material == PAINT)[:, None], mesh.colour_rgb.astype(np.float32) / 255.0, plain)


def _front_m(mesh: Mesh) -> float:
    return float(mesh.vertices_m[:, 0].max()) if (mesh.material == HEAD_LIGHT).any() else 0.0


def _sphere(mesh: Mesh) -> list[float]:
    low, high = mesh.vertices_m.min(axis=0).astype(np.float64), mesh.vertices_m.max(axis=0).astype(np.float64)
    centre = (low + high) / 2
    return [*centre, float(np.linalg.norm(mesh.vertices_m - centre, axis=1).max()), *(high - low) / 2]
