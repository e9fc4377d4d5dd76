"""Each behaviour of CARLA's server, through the real client."""

import re
from pathlib import Path
from typing import Any

import pytest
from headless_simulator.testing import running_simulator

from tests.carla.conftest import run_client

LISTENING = """
    world = client.get_world(); synchronous(world)
    eye = world.spawn_actor(world.get_blueprint_library().find('sensor.camera.rgb'), carla.Transform())
    world.tick()
    box = queue.Queue(); eye.listen(box.put)
    frames = [world.tick() for _ in range(3)]
    got = [box.get(timeout=60).frame]
    while got[-1] < frames[-1]: got.append(box.get(timeout=60).frame)
    eye.stop(); until(lambda: not eye.is_listening())
    for _ in range(4): world.tick()
    eye.listen(box.put); settings = world.get_settings(); settings.no_rendering_mode = True; world.apply_settings(settings)
    took_s = []
    for _ in range(30):
        began_s = time.monotonic(); frame = world.tick(); get(type('eye', (), {'box': box}), frame)
        took_s.append(time.monotonic() - began_s)
    done(first=got[0] - frames[0], slower_s=min(took_s[20:]) - min(took_s[:10]))
"""


def measured_under(behaviour: str, folder: Path) -> dict[str, Any]:
    words = ["--behaviour", behaviour] if behaviour else []
    with (folder / "log").open("w") as log, running_simulator("--render", "flat", *words, stderr=log) as running:
        result: dict[str, Any] = run_client(running.carla_port, LISTENING)
    (drawn,) = re.findall(r"images drawn: (\d+)", (folder / "log").read_text())
    return result | {"drawn": int(drawn)}


IDEAL = {"first": 0, "drawn": 3 + 30 + 1, "slows": False}  # apply_settings ticks once, too


@pytest.mark.parametrize(
    ("behaviour", "differs"),
    [
        ("", {}),
        ("first-image=second", {"first": 1, "drawn": IDEAL["drawn"] - 2}),  # one for each listen()
        ("stop=late", {"drawn": IDEAL["drawn"] + 1}),
        ("no-rendering=slows", {"slows": True}),
    ],
)
def test_behaviour_changes_only_its_effect(behaviour: str, differs: dict[str, Any], tmp_path: Path) -> None:
    result = measured_under(behaviour, tmp_path)
    assert {"first": result["first"], "drawn": result["drawn"], "slows": result["slower_s"] > 0.01} == IDEAL | differs
