"""Logs are JSON lines without secrets."""

import json
from pathlib import Path

import pytest

from uavsim.store.journal import Journal, redact


def test_events_are_lines_in_order(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "logs" / "scene_00.jsonl", now=lambda: 12.34567)
    journal.add("start", attempt=1)
    journal.add("failed", reason="gone from s3://me:hunter2@bucket/x")
    lines = [json.loads(line) for line in (tmp_path / "logs" / "scene_00.jsonl").read_text().splitlines()]
    assert lines == [
        {"time": 12.346, "event": "start", "attempt": 1},
        {"time": 12.346, "event": "failed", "reason": "gone from s3://***@bucket/x"},
    ]


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("https://bob:pw@host:4200/api", "https://***@host:4200/api"),
        ("PREFECT_API_KEY=pnu_123 next", "PREFECT_API_KEY=*** next"),
        ('{"aws_secret_access_key": "abc/def"}', '{"aws_secret_access_key": ***'),
        ("s3://KEY:a/b+c@bucket/x", "s3://***@bucket/x"),
        ("Authorization: Bearer abc.def", "Authorization: ***"),
        ("token='a b c' next", "token=*** next"),
        ("key AKIAIOSFODNN7EXAMPLE is", "key *** is"),
        ("gs://a@b/x s3://k:s@b", "gs://***@b/x s3://***@b"),
        ("token", "token"),
        ("no secret here: 3 tokens", "no secret here: 3 tokens"),
        ("map Town10HD at 127.0.0.1:2000", "map Town10HD at 127.0.0.1:2000"),
    ],
)
def test_redaction(text: str, clean: str) -> None:
    assert redact(text) == clean


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    "word", ["x", "token", 'token="', "token=' ", "://", "a://b@", "AKIA", "secret:\t", "(", "authorization: bearer "]
)
def test_redaction_takes_linear_time(word: str) -> None:
    """A client process may print lines of a megabyte, which reach the log."""
    redact(word * (1_000_000 // len(word)))
    redact(word * (65_000 // len(word)))


def test_long_text_is_cut_without_leaking_a_cut_secret() -> None:
    redacted = redact("begins " + "y" * 65_500 + " s3://KEY:" + "z" * 100 + "@bucket")
    assert redacted.startswith("begins y")
    assert redacted.endswith("y ... (65624 characters)")
