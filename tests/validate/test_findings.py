"""Reports have complete counts even if the list of findings is cut."""

import json
from dataclasses import replace

from uavsim.validate.findings import MAX_PER_CODE, Finding, Report, collect

EMPTY = Report(folder="d", version="v", dialect="strict", findings=(), counts={}, errors=0, facts={}, skipped={})


def report(**values):
    return replace(EMPTY, **values)


def test_place_text_joins_scene_sample_and_channel():
    assert Finding("a.b", "wrong").place_text == "dataset"
    assert Finding("a.b", "wrong", scene="s", sample="0123456789", channel="C").place_text == "s / 01234567 / C"
    assert Finding("a.b", "wrong", channel="C").place_text == "C"


def test_excess_findings_are_counted_but_not_listed():
    many = [Finding("a.b", str(n)) for n in range(MAX_PER_CODE + 5)]
    listed, counts, errors = collect([*many, Finding("c.d", "odd", severity="warning")])
    assert [finding.message for finding in listed[-2:]] == [str(MAX_PER_CODE - 1), "odd"]
    assert counts == {"a.b": MAX_PER_CODE + 5, "c.d": 1}
    assert errors == MAX_PER_CODE + 5


def test_warnings_alone_leave_a_dataset_valid():
    assert report(findings=(Finding("c.d", "odd", severity="warning"),), counts={"c.d": 1}).ok
    assert not report(errors=1).ok


def test_report_with_nonfinite_numbers_is_json():
    finding = Finding("a.b", "wrong", numbers={"gap": float("nan"), "far": float("-inf"), "n": 3})
    (row,) = json.loads(json.dumps(report(findings=(finding,)).as_json(), allow_nan=False))["findings"]
    assert row["numbers"] == {"gap": "nan", "far": "-inf", "n": 3}
