"""Which of CARLA's tests the trial runs."""

from pathlib import Path

from conformance import carla_smoke_tests


def test_only_methods_of_test_cases_are_tests(tmp_path: Path):
    (tmp_path / "smoke").mkdir()
    (tmp_path / "smoke" / "test_odd.py").write_text(
        "class Scene(object):\n    def test_scene(self): ...\n"
        "class TestOdd(SyncSmokeTest):\n    def setUp(self): ...\n    def test_one(self): ...\n"
        "class TestUnit(unittest.TestCase):\n    def test_two(self): ...\n"
    )

    found = list(carla_smoke_tests.tests_in(tmp_path))
    assert found == [
        "smoke.test_odd.TestOdd.test_one",
        "smoke.test_odd.TestUnit.test_two",
    ]


def test_inapplicable_test_has_a_reason():
    assert "ROS 2" in carla_smoke_tests.reason_against("smoke.test_ros2.TestRos2.test_any")
    assert carla_smoke_tests.reason_against("smoke.test_world.TestWorld.test_any") == ""
