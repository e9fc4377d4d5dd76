"""Draw the frames of docs/frames.md from our transforms: ``python -m tools.drawings.frames [FOLDER]``.

Every arrow is an axis taken through ``uavsim.geometry``; none is placed by hand.
"""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

from uavsim.config.library import Library
from uavsim.geometry import unreal
from uavsim.geometry.frames import FLU_SE3_FRD, FLU_SE3_OPTICAL, MAP_SE3_NED
from uavsim.geometry.se3 import SE3
from uavsim.typing import FloatArray

__all__ = ["DRAWINGS", "draw_all"]

_X, _Y, _Z = "#c62828", "#2e7d32", "#1565c0"
_INK, _SOFT, _PALE = "#1c2430", "#7a8594", "#dfe4ea"
_STYLE: Final[dict[Any, Any]] = {"svg.fonttype": "none", "font.family": "sans-serif", "font.size": 11}
_VIEW: Final[FloatArray] = np.array([[0.62, 0.42], [-0.80, 0.26], [0.0, 0.86]])
"""(3, 2): map x, y, z on paper. The viewpoint is behind, above and to the right of an observer who looks along map x."""


def _paper(points_map: FloatArray) -> FloatArray:
    return np.asarray(points_map, dtype=np.float64) @ _VIEW


def _arrow(axes: Any, start: FloatArray, end: FloatArray, colour: str, label: str) -> None:
    a, b = _paper(start), _paper(end)
    axes.annotate(
        "", xy=b, xytext=a, arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 2.2, "shrinkA": 0, "shrinkB": 0}
    )
    axes.plot(*np.stack([a, b + 0.25 * (b - a)]).T, alpha=0.0)  # an annotation does not widen the axes
    away = (b - a) / max(float(np.linalg.norm(b - a)), 1e-9)
    side = "left" if away[0] > 0.3 else "right" if away[0] < -0.3 else "center"
    axes.text(*(b + [0.06, 0.14] * away), label, color=colour, ha=side, va="center", fontweight="bold")


def _triad(axes: Any, map_SE3_frame: SE3, names: Sequence[str], *, length: float = 1.0) -> None:
    origin = map_SE3_frame.translation_m
    ends = map_SE3_frame.apply(np.eye(3) * length)
    for end, colour, name in zip(ends, (_X, _Y, _Z), names, strict=True):
        _arrow(axes, origin, end, colour, name)


def _line(axes: Any, points_map: FloatArray, **style: Any) -> None:
    axes.plot(*_paper(points_map).T, **({"color": _SOFT, "lw": 1.2} | style))


def _ground(axes: Any, half: float = 1.2) -> None:
    for k in np.linspace(-half, half, 5):
        _line(axes, np.array([[k, -half, 0], [k, half, 0]]), color=_PALE, lw=0.9, zorder=0)
        _line(axes, np.array([[-half, k, 0], [half, k, 0]]), color=_PALE, lw=0.9, zorder=0)


def _drone(axes: Any, map_SE3_flu: SE3, *, size: float = 0.55) -> None:
    turns = np.linspace(0, 2 * np.pi, 33)
    for at in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
        hub = np.array([*at, 0.0]) * size * 0.7
        _line(axes, map_SE3_flu.apply(np.stack([np.zeros(3), hub])), color=_INK, lw=2.0)
        rotor = hub + 0.28 * size * np.stack([np.cos(turns), np.sin(turns), np.zeros(33)], axis=1)
        _line(axes, map_SE3_flu.apply(rotor), color=_X if at[0] > 0 else _SOFT, lw=1.4)


def _panel(axes: Any, title: str, text: str) -> None:
    axes.set_title(title, loc="left", fontweight="bold", color=_INK, fontsize=12)
    axes.text(0.0, -0.02, text, transform=axes.transAxes, ha="left", va="top", color=_INK, fontsize=10, linespacing=1.5)
    axes.set_aspect("equal")
    axes.margins(0.12)
    axes.axis("off")


def worlds(figure: Figure) -> None:
    """Draw the three world frames at the same place of the same town."""
    left, middle, right = figure.subplots(1, 3)
    for axes in (left, middle, right):
        _ground(axes)
    _triad(left, SE3.identity(), ("x", "y", "z"))
    _panel(left, "map", "right-handed, z up, metres\neverything that uavsim writes")
    mirrored = unreal.map_vector_from_ue(np.eye(3))
    for end, colour, name in zip(mirrored, (_X, _Y, _Z), ("x", "y", "z"), strict=True):
        _arrow(middle, np.zeros(3), end, colour, name)
    _panel(middle, "ue", "left-handed, z up: map with y flipped\nCARLA, UAV3D's files")
    _triad(right, MAP_SE3_NED, ("north (x)", "east (y)", "down (z)"))
    _panel(right, "ned", "right-handed, z down: map turned by\nhalf a turn about x. AirSim")


def bodies(figure: Figure) -> None:
    """Draw a drone's two body frames; red rotors are in front."""
    left, right = figure.subplots(1, 2)
    for axes in (left, right):
        _drone(axes, SE3.identity())
    _triad(left, SE3.identity(), ("x forward", "y left", "z up"))
    _panel(
        left,
        "flu: ego pose",
        "ego_pose of an image is map_SE3_flu of its drone;\nboxes and lidars have these axes, too",
    )
    _triad(right, FLU_SE3_FRD, ("x forward", "y right", "z down"))
    _panel(right, "frd", "what AirSim means by a drone's attitude")


def camera(figure: Figure) -> None:
    """Draw a camera's frame, its image plane and its pixels."""
    left, right = figure.subplots(1, 2, width_ratios=[1.15, 1])
    corners = np.array([[-0.8, -0.45, 1], [0.8, -0.45, 1], [0.8, 0.45, 1], [-0.8, 0.45, 1], [-0.8, -0.45, 1]]) * 1.25
    plane = FLU_SE3_OPTICAL.apply(corners)
    _line(left, plane, color=_INK, lw=1.6)
    for corner in plane[:4]:
        _line(left, np.stack([np.zeros(3), corner]), lw=0.9)
    _triad(left, FLU_SE3_OPTICAL, ("x right", "y down", "z forward"), length=0.95)
    _panel(left, "optical", "right-handed, z into the image\ncalibrated_sensor is flu_SE3_optical")
    right.add_patch(_rectangle(0, 0, 8, 4.5))
    for k in range(1, 8):
        right.plot([k, k], [0, 4.5], color=_PALE, lw=0.8, zorder=0)
    for k in range(1, 5):
        right.plot([0, 8], [k, k], color=_PALE, lw=0.8, zorder=0)
    arrow = {"arrowstyle": "-|>", "lw": 2.2, "shrinkA": 0, "shrinkB": 0}
    right.annotate("", xy=(3, 0), xytext=(0, 0), arrowprops=arrow | {"color": _X})
    right.annotate("", xy=(0, 2.5), xytext=(0, 0), arrowprops=arrow | {"color": _Y})
    right.text(3.1, -0.25, "u (columns)", color=_X, fontweight="bold")
    right.text(-0.15, 2.9, "v\n(rows)", color=_Y, fontweight="bold", ha="right", va="top")
    right.plot([0.5], [0.5], "o", color=_INK, ms=4)
    right.annotate("centre of the first pixel:\n(0.5, 0.5)", xy=(0.5, 0.5), xytext=(1.3, 1.7), color=_INK, fontsize=10,
                   arrowprops={"arrowstyle": "-", "color": _SOFT})  # fmt: skip
    right.plot([4], [2.25], "+", color=_INK, ms=12)
    right.text(4.2, 2.75, "(cx, cy) = (w/2, h/2)", color=_INK, fontsize=10)
    right.set_xlim(-1.4, 8.3)
    right.set_ylim(5.0, -0.9)
    _panel(right, "pixels", "(0, 0) is the outer corner of the first pixel\nu = fx x/z + cx,  v = fy y/z + cy")


def _rectangle(x: float, y: float, width: float, height: float) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((x, y), width, height, fill=False, edgecolor=_INK, lw=1.6)


def example(figure: Figure) -> None:
    """Draw the worked example from above: a drone that faces map y, and its five cameras."""
    axes = figure.subplots()
    yaw = SE3.from_quat_wxyz(np.array([np.cos(np.pi / 4), 0, 0, np.sin(np.pi / 4)]), np.array([100.0, 50.0, 60.0]))
    rig = Library.of().rig("uav3d").model
    for turn in np.linspace(0, 2 * np.pi, 5)[:4] + np.pi / 4:
        hub = yaw.apply(np.array([np.cos(turn), np.sin(turn), 0.0]) * 2.2)
        axes.plot([100, hub[0]], [50, hub[1]], color=_INK, lw=2)
        axes.add_patch(_circle(hub[0], hub[1], 0.9, _X if np.cos(turn) > 0 else _SOFT))
    for name, mounted in rig.cameras.items():
        euler_deg = np.array([mounted.roll_deg, mounted.pitch_deg, mounted.yaw_deg])
        flu_SE3_optical = unreal.map_SE3_optical_from_ue(np.zeros(3), ue_euler_deg=euler_deg)
        ahead = (yaw @ flu_SE3_optical).apply(np.array([[0.0, 0.0, 1.0]]))[0] - yaw.translation_m
        if np.hypot(*ahead[:2]) < 1e-6:
            axes.text(104.6, 53.2, f"{name}: down", ha="left", va="center", fontsize=10, color=_Z)
            continue
        way = ahead[:2] / np.hypot(*ahead[:2])
        axes.annotate("", xy=(100 + 7.5 * way[0], 50 + 7.5 * way[1]), xytext=(100 + 3.4 * way[0], 50 + 3.4 * way[1]),
                      arrowprops={"arrowstyle": "-|>", "color": _Z, "lw": 2.2})  # fmt: skip
        axes.text(100 + 9.4 * way[0], 50 + 8.5 * way[1], name, ha="center", va="center", color=_Z, fontweight="bold")
    arrow = {"arrowstyle": "-|>", "lw": 2.2}
    for end, colour, label in (((1, 0), _X, "map x"), ((0, 1), _Y, "map y")):
        tip = (85 + 4 * end[0], 41 + 4 * end[1])
        axes.annotate("", xy=tip, xytext=(85, 41), arrowprops=arrow | {"color": colour})
        axes.text(
            tip[0] + 1.8 * end[0],
            tip[1] + 0.9 * end[1],
            label,
            color=colour,
            fontweight="bold",
            ha="center",
            va="center",
        )
    axes.set_xlim(82, 115)
    axes.set_ylim(39.5, 60.5)
    _panel(
        axes,
        "A drone at (100, 50, 60) m with yaw 90 degrees, from above",
        "red rotors are in front; blue: where each camera of rig uav3d looks",
    )


def _circle(x: float, y: float, radius: float, colour: str) -> Any:
    from matplotlib.patches import Circle

    return Circle((x, y), radius, fill=False, edgecolor=colour, lw=1.8)


DRAWINGS: Final[dict[str, tuple[tuple[float, float], Callable[[Figure], None]]]] = {
    "frames-worlds.svg": ((10.5, 4.2), worlds),
    "frames-bodies.svg": ((8.5, 4.0), bodies),
    "frames-camera.svg": ((9.5, 4.2), camera),
    "frames-example.svg": ((8.0, 5.6), example),
}


def draw_all(folder: Path) -> list[Path]:
    """Write every drawing; the same code gives the same bytes."""
    written = []
    for name, (size, draw) in DRAWINGS.items():
        with rc_context({**_STYLE, "svg.hashsalt": name}):
            figure = Figure(figsize=size, layout="constrained", facecolor="white")
            draw(figure)
            figure.savefig(folder / name, format="svg", bbox_inches="tight", metadata={"Date": None, "Creator": None})
        written.append(folder / name)
    return written


if __name__ == "__main__":
    for path in draw_all(Path(sys.argv[1] if len(sys.argv) > 1 else "docs")):
        print(path)
