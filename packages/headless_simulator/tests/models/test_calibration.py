import json
from pathlib import Path

import carla
import pytest
from headless_simulator.models.calibration import calibrate
from headless_simulator.testing import running_simulator

LONGER = [3.0, 1.1, 0.8]
AUDI = "vehicle.audi.tt: half length, width, height"


def answers(*sizes: tuple[str, object]) -> str:
    rows = [{"capability": "blueprints", "question": question, "value": value} for question, value in sizes]
    return json.dumps({"answers": rows})


def test_a_body_has_the_calibrated_size_in_its_box(tmp_path: Path) -> None:
    (tmp_path / "answers.json").write_text(
        answers(
            ("vehicle.tesla.model3: half length, width, height", LONGER),
            ("vehicle.of.nobody: half length, width, height", LONGER),
            ("vehicle.audi.a2: half length, width, height", None),
        )
    )
    with running_simulator(
        "--calibration", str(tmp_path / "answers.json"), "--no-airsim", "--render", "flat"
    ) as simulator:
        client = carla.Client("127.0.0.1", simulator.carla_port)
        client.set_timeout(60.0)
        world = client.get_world()
        library = world.get_blueprint_library()
        high = carla.Transform(carla.Location(z=100))
        tesla = world.spawn_actor(library.find("vehicle.tesla.model3"), high)
        half = tesla.bounding_box.extent
        assert [half.x, half.y, half.z] == pytest.approx(LONGER)
        audi = world.spawn_actor(library.find("vehicle.audi.a2"), carla.Transform(carla.Location(x=20, z=100)))
        assert audi.bounding_box.extent.x == pytest.approx(1.853)


@pytest.mark.parametrize(
    "text",
    ["[]", "{}", '{"answers": [3]}', answers((AUDI, [1e9, 1, 1])), answers((AUDI, "long")), answers((AUDI, [1, 1]))],
)
def test_invalid_calibration_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "answers.json"
    path.write_text(text)

    with pytest.raises(ValueError, match=r"^--calibration ") as refusal:
        calibrate(path)

    assert "\n" not in str(refusal.value)
