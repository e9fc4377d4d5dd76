"""Boxes as arrays, for ground truth and predictions of every 3D metric."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final, Literal, Self

import numpy as np

from uavsim.errors import InputError
from uavsim.typing import AnyArray, BoolArray, FloatArray, IntArray

__all__ = ["ATTRIBUTES", "NOTHING", "Boxes", "ranks_within", "yaw_of_quat"]

NOTHING: Final = -1
"""The code of an absent attribute or track."""

SIDES: Final[tuple[Literal["left", "right"], ...]] = ("left", "right")
ATTRIBUTES: Final = (
    "pedestrian.moving",
    "pedestrian.sitting_lying_down",
    "pedestrian.standing",
    "cycle.with_rider",
    "cycle.without_rider",
    "vehicle.moving",
    "vehicle.parked",
    "vehicle.stopped",
)
"""nuScenes' attributes; ``Boxes.attribute`` is an index into them (nuscenes-devkit, ``eval/detection/constants.py``)."""


@dataclass(frozen=True, slots=True, eq=False)
class Boxes:
    """N boxes in the global frame, rows of one sample next to each other.

    Args:
        sample: (N,) index of the sample, ascending.
        label: (N,) index of the class, in the benchmark's own list of classes.
        centre_m: (N, 3) x, y, z.
        size_m: (N, 3) width, length, height.
        yaw_rad: (N,) heading about z.
        velocity_mps: (N, 2) x, y; NaN where unknown.
        score: (N,) confidence; -1 for ground truth.
        attribute: (N,) index into ``ATTRIBUTES`` or ``NOTHING``.
        track: (N,) integer name of the object or track or ``NOTHING``.
        counted: (N,) False for ground truth that no sensor saw; no benchmark counts it.
    """

    sample: IntArray
    label: IntArray
    centre_m: FloatArray
    size_m: FloatArray
    yaw_rad: FloatArray
    velocity_mps: FloatArray
    score: FloatArray
    attribute: IntArray
    track: IntArray
    counted: BoolArray

    def __len__(self) -> int:
        return len(self.sample)

    def __post_init__(self) -> None:
        wrong = {f.name for f in fields(self) if len(getattr(self, f.name)) != len(self.sample)}
        if wrong:
            raise InputError(f"boxes: {', '.join(sorted(wrong))}: number of rows differs from sample")
        if len(self.sample) and np.any(np.diff(self.sample) < 0):
            raise InputError("boxes: samples must be ascending; sort the rows by sample first")

    def take(self, rows: AnyArray | slice) -> Self:
        """Return the rows of a mask (N,), of ascending indices (M,) or of a slice."""
        return type(self)(*(getattr(self, f.name)[rows] for f in fields(self)))

    def rows_of(self, samples: IntArray) -> IntArray:
        """Return (M,) ascending indices of the rows of the given samples (S,), ascending."""
        begin, end = (np.searchsorted(self.sample, samples, side=side) for side in SIDES)
        counts = end - begin
        ranks = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        rows: IntArray = np.repeat(begin, counts) + ranks
        return rows

    def sample_rows(self, sample: int) -> slice:
        """Return the rows of one sample."""
        return slice(*np.searchsorted(self.sample, [sample, sample + 1]).tolist())

    @classmethod
    def make(cls, sample: AnyArray, label: AnyArray, centre_m: AnyArray, **columns: AnyArray) -> Boxes:
        """Make boxes from (N,) or (N, K) columns as in ``Boxes``, sorted by sample; missing columns get neutral values."""
        rows = np.argsort(np.asarray(sample, dtype=np.int64), kind="stable")
        count = len(rows)
        defaults: dict[str, AnyArray] = {
            "size_m": np.ones((count, 3)),
            "yaw_rad": np.zeros(count),
            "velocity_mps": np.zeros((count, 2)),
            "score": np.full(count, -1.0),
            "attribute": np.full(count, NOTHING),
            "track": np.full(count, NOTHING),
            "counted": np.ones(count, bool),
        }
        unknown = set(columns) - set(defaults)
        if unknown:
            raise InputError(f"boxes: no column {sorted(unknown)[0]!r}")
        defaults |= {name: np.asarray(column) for name, column in columns.items()}
        kinds = {"attribute": np.int64, "track": np.int64, "counted": np.bool_}
        return cls(
            np.asarray(sample, dtype=np.int64)[rows],
            np.asarray(label, dtype=np.int64)[rows],
            np.asarray(centre_m, dtype=np.float64).reshape(count, 3)[rows],
            **{
                name: np.asarray(column, dtype=kinds.get(name, np.float64)).reshape(count, *column.shape[1:])[rows]
                for name, column in defaults.items()
            },
        )

    @classmethod
    def none(cls) -> Boxes:
        """Return an empty set of boxes."""
        return cls.make(np.zeros(0), np.zeros(0), np.zeros((0, 3)))

    @classmethod
    def concat(cls, parts: list[Boxes]) -> Boxes:
        """Join all parts and sort them by sample, stable in the order of the parts."""
        if not parts:
            return cls.none()
        columns = {f.name: np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(cls)}
        rows = np.argsort(columns["sample"], kind="stable")
        return cls(**{name: column[rows] for name, column in columns.items()})


def yaw_of_quat(quat_wxyz: FloatArray) -> FloatArray:
    """Return (N,) headings in radians: the direction of the body's x axis, seen from above.

    Args:
        quat_wxyz: (N, 4) of any length; zeros give 0.

    Source: nuscenes-devkit 1.2.0, ``eval/common/utils.py``, ``quaternion_yaw``.
    """
    w, x, y, z = np.moveaxis(np.asarray(quat_wxyz, dtype=np.float64), -1, 0)
    yaw: FloatArray = np.arctan2(2.0 * (w * z + x * y), w * w + x * x - y * y - z * z)
    return yaw


def ranks_within(group: IntArray) -> IntArray:
    """Return the (N,) position of each row within its group.

    Args:
        group: (N,) group of each row, rows of a group adjacent.
    """
    if not len(group):
        return np.zeros(0, np.int64)
    begins = np.flatnonzero(np.r_[True, group[1:] != group[:-1]])
    lengths = np.diff(np.r_[begins, len(group)])
    ranks: IntArray = np.arange(len(group)) - np.repeat(begins, lengths)
    return ranks
