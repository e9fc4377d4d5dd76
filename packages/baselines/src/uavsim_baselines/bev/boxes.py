"""Boxes of one sample as tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True, eq=False)
class Boxes:
    """N boxes in one frame, metres.

    Attributes:
        centre_m: (N, 3).
        size_lwh_m: (N, 3) length, width, height.
        yaw_rad: (N,) heading about z.
        velocity_mps: (N, 2); NaN if unknown.
        label: (N,) index into the list of classes.
        score: (N,) 1 for true boxes.
    """

    centre_m: Tensor
    size_lwh_m: Tensor
    yaw_rad: Tensor
    velocity_mps: Tensor
    label: Tensor
    score: Tensor

    def __len__(self) -> int:
        return int(self.label.shape[0])

    def pick(self, rows: Tensor) -> Boxes:
        """Return the rows of an (N,) mask or of (M,) indices."""
        return Boxes(*(part[rows] for part in self._parts()))

    def moved(self, dst_T_src: Tensor) -> Boxes:
        """Return the boxes in another frame by a (4, 4) transform: a rotation about z and a translation."""
        turn = dst_T_src.to(self.centre_m.dtype)
        velocity = self.velocity_mps @ turn[:2, :2].T
        heading = torch.atan2(turn[1, 0], turn[0, 0])
        yaw = self.yaw_rad + heading
        return Boxes(
            self.centre_m @ turn[:3, :3].T + turn[:3, 3],
            self.size_lwh_m,
            torch.atan2(yaw.sin(), yaw.cos()),
            velocity,
            self.label,
            self.score,
        )

    @staticmethod
    def joined(parts: Sequence[Boxes]) -> Boxes:
        """Return the boxes of all parts."""
        return Boxes(*(torch.cat(columns) for columns in zip(*(part._parts() for part in parts), strict=True)))

    @staticmethod
    def none(dtype: torch.dtype = torch.float64) -> Boxes:
        """Return an empty set of boxes."""
        empty = torch.zeros(0, dtype=dtype)
        return Boxes(
            empty.reshape(0, 3),
            empty.reshape(0, 3),
            empty,
            empty.reshape(0, 2),
            torch.zeros(0, dtype=torch.int64),
            empty,
        )

    def _parts(self) -> tuple[Tensor, ...]:
        return self.centre_m, self.size_lwh_m, self.yaw_rad, self.velocity_mps, self.label, self.score


def nms_by_distance(boxes: Boxes, *, nearer_than_m: float) -> Boxes:
    """Suppress boxes near a box of the same class with a higher score, by distance on the ground.

    Equal scores are ordered by position, so the result does not depend on the input's order.

    Source: CenterPoint's ``circle_nms`` (Yin et al., CVPR 2021).
    """
    rows = sorted(
        range(len(boxes)),
        key=lambda n: (-float(boxes.score[n]), *(round(float(x), 6) for x in boxes.centre_m[n])),
    )
    best_rows: list[int] = []
    for row in rows:
        rivals = [k for k in best_rows if boxes.label[k] == boxes.label[row]]
        apart = boxes.centre_m[rivals, :2] - boxes.centre_m[row, :2] if rivals else torch.zeros(0, 2)
        if not (apart.square().sum(-1) < nearer_than_m**2).any():
            best_rows.append(row)
    return boxes.pick(torch.tensor(best_rows, dtype=torch.int64))
