"""Termination of clients' regular expressions."""

import pytest
from headless_simulator.airsim.patterns import Pattern
from headless_simulator.errors import CallRefused

WITHOUT_END = [
    "((a+))+$b",
    "(a|a)*b",
    "a*a*a*a*a*a*a*a*a*a*a*a*b",
    "(?:a?){60}a{60}b",
    r"(a*)*\1b",
    "(?=(a+))*b",
    "(.*)*(.*)*(.*)*b",
]


@pytest.mark.parametrize("text", WITHOUT_END)
def test_catastrophic_patterns_are_refused_or_fast(text: str) -> None:
    try:
        assert not Pattern(text).fits("a" * 200)
    except CallRefused as refusal:
        assert "too long" in str(refusal) or "no regular expression" in str(refusal)  # noqa: PT017


def test_slow_pattern_times_out() -> None:
    with pytest.raises(CallRefused, match="takes too long"):
        Pattern("((a|a|aa)+)+b").fits("a" * 200)


@pytest.mark.parametrize(
    ("text", "name", "fits"),
    [
        (".*", "Ground_Road", True),
        ("ground.*", "Ground_Road", True),
        ("Road", "Ground_Road", False),
        (r"Ground_(Road|Terrain)[\w]*", "Ground_Terrain", True),
    ],
)
def test_whole_names_are_matched_and_case_is_ignored(text: str, name: str, *, fits: bool) -> None:
    assert Pattern(text).fits(name) == fits


@pytest.mark.parametrize("text", ["(", "[", "a" * 501, "(?P<a", "*"])
def test_invalid_pattern_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(CallRefused) as caught:
        Pattern(text)
    assert "\n" not in str(caught.value)
