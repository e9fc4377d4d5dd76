from tools.bench.__main__ import compared
from tools.bench.cost import role_of


def test_rows_of_both_runs_stand_side_by_side():
    old = [{"name": "a", "value": 4, "unit": "s"}, {"name": "gone", "value": 1, "unit": "s"}]
    new = [{"name": "a", "value": 1, "unit": "s"}, {"name": "new", "value": 1, "unit": "s"}]
    assert compared(old, new).splitlines()[2:] == ["| a | 4 | 1 | 0.25 | s |"]


def test_nothing_is_divided_by_nothing():
    assert "| - |" in compared([{"name": "a", "value": 0, "unit": "s"}], [{"name": "a", "value": 2, "unit": "s"}])


def test_processes_of_a_run_are_distinguished():
    guarded = ["python", "-I", "-S", "uavsim/supervise/guard.py", "4", "[]", "python", "-m", "headless_simulator"]
    assert role_of(guarded) == "guards"
    assert role_of(["python", "-P", "-m", "headless_simulator", "--carla-port", "0"]) == "simulator"
    assert role_of(["python", "-P", "-m", "uavsim.capture.client_worker"]) == "client"
    assert role_of(["python", "-c", "from multiprocessing.spawn import spawn_main"]) == "validator"
    assert role_of(["python", "-m", "uavsim", "generate"]) == "flow"
