"""Configuration commands, in a separate process if necessary."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from uavsim.images.codec import decode_rgb


def test_plan_shows_a_table_and_draws_when_asked(working_folder, run):
    arguments = ("plan", "--dataset", "smoke", "--town", "Town10HD", "--scenes", "0-2")
    code, out, err = run(*arguments)
    assert (code, err) == (0, "")
    assert "scene_0002" in out
    assert "town10_row3_col3" in out
    assert list(working_folder.iterdir()) == []
    code, out, _ = run(*arguments, "--png", "plan.png")
    assert code == 0
    assert "no roads" not in out  # the headless simulator's own town has them
    assert decode_rgb((working_folder / "plan.png").read_bytes()).shape[1] == 1400 + 120


def test_plan_of_many_scenes_fits_a_narrow_terminal_with_whole_names(working_folder):
    command = f"stty cols 80; {sys.executable} -m uavsim plan --dataset uav3d --town Town03"
    done = subprocess.run(
        ["script", "-qec", command, "/dev/null"], capture_output=True, text=True, check=True, cwd=working_folder
    )
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line).rstrip() for line in done.stdout.splitlines()]
    assert len(lines) < 24
    assert max(map(len, lines)) <= 80
    assert "scene_0009  town03_row1_col1  uav_train  1966785642" in lines
    assert lines[-1] == "and 240 more rows; --json has all"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["plan", "--dataset", "smok"], "error: unknown dataset 'smok'; did you mean 'smoke'?"),
        (["plan", "--dataset", "smoke"], "error: the dataset 'smoke' has several towns; choose one: Town10HD, Town03"),
        (["plan"], "error: --dataset is missing"),
        (
            ["plan", "--dataset", "smoke", "--town", "Town10HD", "--png", "plan.jpg"],
            "error: --png plan.jpg: a PNG image is written; give it a name that ends with .png",
        ),
        (["plan", "--dataset", "smoke", "--town", "Town10HD", "--json", "--png", "plan"], "error: --png plan: a PNG"),
        (
            ["plan", "--dataset", "smoke", "--town", "Town10HD", "--scenes", "x"],
            "error: --scenes 'x': write numbers and ranges, for example 0-4,7",
        ),
        (["plan", "--dataset", "smoke", "--town", "Town10HD", "--xodr", "no.xodr"], "error: no.xodr: cannot be read"),
        (["plan", "--dataset", "smoke", "--town", "Town10HD", "--xodr", "no.json"], "error: no.json: cannot be read"),
        (["plan", "--make-routes", "Town033"], "error: unknown town 'Town033'; did you mean 'Town03'?"),
        (["check", "none.yaml"], "error: none.yaml: no such file or folder"),
    ],
)
def test_bad_input_is_one_line_and_exit_2_and_nothing_written(working_folder, run, arguments, message):
    code, _, err = run(*arguments)
    assert code == 2
    assert err.startswith(message)
    assert len(err.splitlines()) == 1
    assert list(working_folder.iterdir()) == []


CASES = """
tags: {cone: {}}
cases:
  cone: {tag: cone, at: crossing, parts: [static.prop.trafficcone01]}
"""
STREET = """<OpenDRIVE><header revMajor="1" revMinor="4"/><road id="1" length="50" junction="-1">
<planView><geometry s="0" x="0" y="0" hdg="0" length="50"><line/></geometry></planView>
<lanes><laneSection s="0"><center><lane id="0" type="none"/></center><right><lane id="-1" type="driving">
<width sOffset="0" a="3.5" b="0" c="0" d="0"/></lane></right></laneSection></lanes></road></OpenDRIVE>"""


def test_a_flight_that_passes_no_crossing_is_refused_where_a_case_needs_one(working_folder, run):
    (working_folder / "flight_plans/corner_cases").mkdir(parents=True)
    (working_folder / "flight_plans/corner_cases/street.yaml").write_text(CASES)
    (working_folder / "mine.yaml").write_text(
        "towns: {Town10HD: {scenes: 1, routes: [town10_row3_col3]}}\nsamples: 2\nformation: solo\nrig: openad\n"
        "corner_cases: {from: street, min_visible_px: 60}\n"
    )
    (working_folder / "street.xodr").write_text(STREET)
    code, out, _ = run("plan", "--dataset", "mine.yaml")
    assert code == 0
    assert "cone (lane, crossing)" in out
    code, out, err = run("plan", "--dataset", "mine.yaml", "--xodr", "street.xodr", "--json")
    assert (code, out) == (2, "")
    assert err == (
        "error: scene_0000: corner case 'cone' needs a crossing within 150 m of the flight; the map of street has none; "
        "fly another route, or give the town's own map with --xodr FILE\n"
    )


def test_in_a_process_of_its_own(working_folder):
    command = [sys.executable, "-m", "uavsim", "plan", "--dataset", "smok"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=working_folder, timeout=120, check=False)
    assert done.returncode == 2
    assert done.stderr == "error: unknown dataset 'smok'; did you mean 'smoke'?\n"
    assert done.stdout == ""


def test_make_routes_then_edit_then_plan(working_folder, run):
    assert run("plan", "--make-routes", "Town07", "--rows", "2", "--columns", "3")[0] == 0
    routes = working_folder / "flight_plans" / "town07.yaml"
    assert routes.read_text().count("path:") == 6
    code, _, err = run("plan", "--make-routes", "Town07")
    assert (code, err) == (
        2,
        "error: flight_plans/town07.yaml exists already; move it away, or replace it with --force\n",
    )
    assert run("plan", "--make-routes", "Town07", "--force")[0] == 0
    assert routes.read_text().count("path:") == 25
    two = "  town07_row3_col3: {path: [[-60, 60], [0, 60]]}\n  town07_row2_col3: {path: [[0, 0]]}\n"
    routes.write_text(f"town: Town07\nroutes:\n{two}")
    code, out, _ = run("plan", "--dataset", "smoke", "--town", "Town07", "--scenes", "400", "--png", "plan.png")
    assert code == 0
    assert out.endswith("plan.png: 1 route, 1 scene\n")


def test_check_lists_good_and_bad_files(working_folder, run):
    (working_folder / "formations").mkdir()
    (working_folder / "formations" / "good.yaml").write_text("shape: vee\n")
    (working_folder / "formations" / "bad.yaml").write_text("shpae: vee\n")
    code, out, err = run("check", "formations")
    assert code == 2
    assert err == "error: formations/bad.yaml:1: shpae: unknown key; did you mean 'shape'?\n"
    assert out == "1 of 2 files are valid\n"
    assert run("check", "formations/good.yaml")[:2] == (0, "1 of 1 file is valid\n")


def test_committed_schemas_are_current(working_folder, run):
    assert run("schema", "--out", "schemas")[0] == 0
    written = {p.name: p.read_text() for p in (working_folder / "schemas").iterdir()}
    committed = Path(__file__).parents[2] / "flight_plans" / ".schemas"
    same = written == {p.name: p.read_text() for p in committed.iterdir()}
    assert same, "run: uavsim schema --out flight_plans/.schemas"


def test_places_that_cannot_be_written(working_folder, run):
    (working_folder / "file").write_text("")
    code, _, err = run("schema", "--out", "file")
    assert code == 2
    assert "is not a directory" in err


def test_brackets_in_a_message_are_not_markup(working_folder, run):
    (working_folder / "d.yaml").write_text("towns: {T: {scenes: 1}}\nrig: uav3d\nformation: {}\n")
    code, _, err = run("plan", "--dataset", "d.yaml")
    assert code == 2
    assert err == "error: d.yaml:3: formation: give one name, or cycle: [names], or draw: {name: weight}\n"


def test_all_errors_of_a_file_are_shown_at_once_in_the_order_of_lines(working_folder, run):
    folder = working_folder / "flight_plans/formations"
    folder.mkdir(parents=True)
    (folder / "wrong.yaml").write_text("drones: 3\nshape: vee\nspacing_m: -1\nspacing: 4\naltitude_m: x\n")
    code, _, err = run("check", "flight_plans/formations/wrong.yaml")
    assert code == 2
    lines = err.splitlines()
    assert [line.split(": ")[2] for line in lines] == ["spacing_m", "spacing", "altitude_m"]
    assert [line.split(":")[2] for line in lines] == ["3", "4", "5"]
    reported = json.loads(run("check", "flight_plans/formations/wrong.yaml", "--json")[1])
    assert len(reported["files"][0]["errors"]) == 3
