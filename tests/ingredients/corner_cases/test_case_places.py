"""Places of corner cases, calculated by hand on a synthetic ground."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from tools.common.plans import scene_plan
from uavsim.errors import SceneVoid
from uavsim.geometry.se3 import SE3
from uavsim.ingredients.corner_cases.case_places import CasePlace, Lanes, eyes_of_plan, find_place
from uavsim.ingredients.corner_cases.case_plans import CasePart, CornerCasePlan, parts_outline_m
from uavsim.typing import FloatArray

PLAN = scene_plan(samples=2)  # five drones 60 m up around (-20, -30)
EYES = eyes_of_plan(PLAN)


@dataclass
class PaperGround:
    """A level ground with holes near rows of ``bad``; ``walls`` occlude everything east of x."""

    height_m: float = 0.25
    bad: list[tuple[float, float]] = field(default_factory=list)
    wall_x_m: float = 1e9

    def level(self, points_m: FloatArray) -> float | None:
        near = [np.hypot(*(points_m[:, :2] - bad_xy_m).T).min() < 1.0 for bad_xy_m in self.bad]
        return None if any(near) else self.height_m

    def sees(self, eye_m: FloatArray, target_m: FloatArray) -> bool:
        return bool(target_m[0] < self.wall_x_m)


def lanes(*places: tuple[float, float], half_width_m: float = 1.75, at_right_edge: bool = False) -> Lanes:
    xy = np.array(places, dtype=float)
    return Lanes(
        np.column_stack([xy, np.zeros(len(xy))]), np.zeros(len(xy)), np.full(len(xy), half_width_m), at_right_edge
    )


def case(*, half_m: tuple[float, float, float] = (0.5, 0.4, 0.3), least_px: int = 1) -> CornerCasePlan:
    part = CasePart("static.prop.box01", "carton", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), half_m)
    return CornerCasePlan("boxes", "carton", "lane", "along", 1.0, least_px, (part,))


def placed(plan: CornerCasePlan, where: Lanes, ground: PaperGround, taken: tuple[CasePlace, ...] = ()) -> CasePlace:
    return find_place(plan, where, EYES, ground=ground, taken=taken, rng=np.random.default_rng(1))[1]


def test_a_case_stands_on_the_ground_and_faces_along_the_lane() -> None:
    case_place = placed(case(), lanes((-20.0, -30.0)), PaperGround())
    np.testing.assert_allclose(case_place.map_SE3_case.translation_m, [-20.0, -30.0, 0.25])
    outline_m = parts_outline_m(case().parts, case_place.map_SE3_case)
    np.testing.assert_allclose(np.ptp(outline_m, axis=0), [1.0, 0.8, 0.6], atol=1e-9)


def test_the_same_draws_give_the_same_place_and_a_refused_one_gives_the_next() -> None:
    where = lanes(*[(-30.0 + 2.0 * k, -30.0) for k in range(10)])
    rows = []
    for refused in (frozenset[int](), frozenset[int]()):
        row, _ = find_place(
            case(), where, EYES, ground=PaperGround(), taken=(), rng=np.random.default_rng(4), refused=refused
        )
        rows.append(row)
    assert rows[0] == rows[1]
    other, _ = find_place(
        case(), where, EYES, ground=PaperGround(), taken=(), rng=np.random.default_rng(4), refused=frozenset({rows[0]})
    )
    assert other != rows[0]


def test_at_a_right_edge_its_side_is_near_the_edge() -> None:
    case_place = placed(case(), lanes((-20.0, -30.0), half_width_m=2.4, at_right_edge=True), PaperGround())
    # the lane heads along x, so right is minus y: 2.4 m less half of its 0.8 m, less 0.2 m
    np.testing.assert_allclose(case_place.map_SE3_case.translation_m[:2], [-20.0, -30.0 - (2.4 - 0.4 - 0.2)])


@pytest.mark.parametrize(
    ("case_plan", "where", "ground", "reason"),
    [
        (
            case(half_m=(1.0, 2.0, 0.5)),
            lanes((-20.0, -30.0)),
            PaperGround(),
            "1 too narrow; possible there: an object of 3.5 m across the lane (this one is 4.0 m wide)",
        ),
        (
            case(least_px=10_000),
            lanes((-20.0, -30.0)),
            PaperGround(),
            "1 below min_visible_px in every image; possible there: min_visible_px: ",
        ),
        (case(), lanes((-20.0, -30.0)), PaperGround(bad=[(-20.0, -30.0)]), "1 uneven or occupied"),
        (case(), lanes((-20.0, -30.0)), PaperGround(wall_x_m=-25.0), "1 hidden from the camera"),
        (case(), lanes((-20.0, -30.0)), PaperGround(wall_x_m=-19.7), "1 hidden from the camera"),  # a corner of it
        (case(), lanes((900.0, 900.0)), PaperGround(), "of 0 places none is near the flight"),
    ],
)
def test_no_place_is_one_line_with_counts_of_reasons(
    case_plan: CornerCasePlan, where: Lanes, ground: PaperGround, reason: str
) -> None:
    with pytest.raises(SceneVoid) as caught:
        placed(case_plan, where, ground)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_number_of_pixels_that_a_refusal_names_is_possible() -> None:
    where = lanes((-20.0, -30.0), (-18.0, -28.0))
    with pytest.raises(SceneVoid, match=r"min_visible_px: \d+$") as caught:
        placed(case(least_px=10_000), where, PaperGround())
    most_px = int(str(caught.value).rpartition(" ")[2])

    assert placed(case(least_px=most_px), where, PaperGround()).expected_px >= most_px
    with pytest.raises(SceneVoid):
        placed(case(least_px=most_px + 1), where, PaperGround())


def test_a_place_needs_a_quarter_of_the_outline_in_sight() -> None:
    above = replace(PLAN, rig=tuple(spec for spec in PLAN.rig if spec.name == "BOTTOM"))
    (eye, *_) = eyes_of_plan(above)
    x, y, z = eye.map_SE3_optical.translation_m
    focal_px = 0.5 * eye.spec.camera.width_px / np.tan(np.radians(eye.spec.camera.fov_deg) / 2)
    flat = case(half_m=(2.0, 1.0, 0.001))

    rng = np.random.default_rng(1)
    _, case_place = find_place(flat, lanes((x, y)), [eye], ground=PaperGround(0.0), taken=(), rng=rng)
    # seen from straight above, where the ground is z away: 4 m x 2 m
    assert case_place.expected_px == pytest.approx(0.25 * 8.0 * (focal_px / z) ** 2, rel=1e-2)


def test_two_cases_keep_their_clearance() -> None:
    first = CasePlace(SE3.identity((1,))[0], 1.0, 100.0)
    first = CasePlace(SE3(first.map_SE3_case.quat_wxyz, np.array([-20.0, -30.0, 0.0])), 1.0, 100.0)
    near, far = (-18.0, -30.0), (-14.0, -30.0)
    with pytest.raises(SceneVoid, match=r"1 taken by another case; possible there: clearance_m: 0\.3$"):
        # 2 m, less 1 m and half of the 1.28 m from corner to corner
        placed(case(), lanes(near), PaperGround(), (first,))
    case_place = placed(case(), lanes(near, far), PaperGround(), (first,))
    np.testing.assert_allclose(case_place.map_SE3_case.translation_m[:2], far)
