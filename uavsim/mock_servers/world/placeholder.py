"""A small loop road that stands in until the procedural towns are there."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from uavsim.mock_servers.scene import Ground, Mesh, Town

NAMES = ("Town03", "Town04", "Town06", "Town07", "Town10HD")


def _lane(i: int, kind: str, width: float) -> str:
    return (
        f'<lane id="{i}" type="{kind}" level="false"><link><predecessor id="{i}"/><successor id="{i}"/></link>'
        f'<width sOffset="0" a="{width}" b="0" c="0" d="0"/></lane>'
    )


def _opendrive(straight: float, radius: float) -> str:
    half = math.pi * radius
    parts = [(0, 0, 0, straight, 0), (straight, 0, 0, half, 1 / radius)]
    parts += [(straight, 2 * radius, math.pi, straight, 0), (0, 2 * radius, math.pi, half, 1 / radius)]
    lanes = (
        f'<lanes><laneSection s="0"><left>{_lane(2, "sidewalk", 2)}{_lane(1, "driving", 3.5)}</left><center><lane id="0" '
        f'type="none" level="false"/></center><right>{_lane(-1, "driving", 3.5)}{_lane(-2, "sidewalk", 2)}</right>'
        "</laneSection></lanes>"
    )
    out = ['<?xml version="1.0"?>\n<OpenDRIVE>\n<header revMajor="1" revMinor="4" name="Loop" version="1.0"/>\n']
    for i, (x, y, h, length, k) in enumerate(parts):
        shape = "<line/>" if k == 0 else f'<arc curvature="{k:.12g}"/>'
        out.append(
            f'<road name="r" length="{length:.9f}" id="{i + 1}" junction="-1"><link>'
            f'<predecessor elementType="road" elementId="{(i - 1) % 4 + 1}" contactPoint="end"/>'
            f'<successor elementType="road" elementId="{(i + 1) % 4 + 1}" contactPoint="start"/></link>'
            f'<planView><geometry s="0" x="{x:.9f}" y="{y:.9f}" hdg="{h:.12f}" length="{length:.9f}">{shape}</geometry>'
            f'</planView><elevationProfile><elevation s="0" a="0" b="0" c="0" d="0"/></elevationProfile>{lanes}</road>\n'
        )
    return "".join(out) + "</OpenDRIVE>\n"


def load_town(name: str, *, seed: int = 0) -> Town:  # noqa: ARG001
    """Build the loop."""
    straight, radius = 150.0, 30.0
    spawn = []
    for s in range(5, int(straight), 10):
        spawn += [(s, 1.75, 0.3, 0, 0, 0), (s, -1.75, 0.3, 0, 180, 0)]
        spawn += [(straight - s, -2 * radius - 1.75, 0.3, 0, 180, 0), (straight - s, -2 * radius + 1.75, 0.3, 0, 0, 0)]
    ground = [(-400, -400, 0), (400, -400, 0), (400, 400, 0), (-400, 400, 0)]
    road = [(0, -3.5, 0.01), (150, -3.5, 0.01), (150, 3.5, 0.01), (0, 3.5, 0.01)]
    mesh = Mesh(
        np.array(ground + road, np.float32),
        np.array([(0, 1, 2), (0, 2, 3), (4, 5, 6), (4, 6, 7)], np.int32),
        np.array([(90, 120, 70)] * 2 + [(70, 70, 75)] * 2, np.uint8),
        np.array([10, 10, 1, 1], np.uint8), np.zeros(4, np.uint8), np.zeros(4, np.uint32),
    )  # fmt: skip
    height = Ground((-400.0, -400.0), 10.0, np.zeros((81, 81), np.float32))
    walks = tuple(
        (((x, 3.5, 0.0), (x + 10, 3.5, 0.0), (x + 10, 5.5, 0.0), (x, 5.5, 0.0)), "sidewalk") for x in range(0, 150, 10)
    )
    return Town(
        name, _opendrive(straight, radius), np.array(spawn, np.float64), mesh, height, (), (), walks, (),
        np.array([[0.0, 0.0, 50.0]]),
    )  # fmt: skip


def load_opendrive(path: Path, *, seed: int = 0) -> Town:  # noqa: ARG001
    """Refuse: not there yet."""
    raise ValueError("OpenDRIVE files cannot be loaded yet")
