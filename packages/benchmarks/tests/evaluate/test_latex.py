"""Rows for a paper."""

from uavsim_benchmarks.evaluate.latex import latex_rows
from uavsim_benchmarks.evaluate.outcome import Outcome


def test_names_are_escaped_and_what_is_not_known_is_a_dash() -> None:
    scores = {"mean_ap": 0.123456, "nds": float("nan"), "r%": None}
    outcome = Outcome("nuscenes_detection", "official", scores, headline=("mean_ap", "nds", "r%"))
    assert latex_rows(outcome, name="ours & theirs #1") == (
        r"nuscenes\_detection & mean\_ap & nds & r\% \\" + "\n" + r"ours \& theirs \#1 & 0.1235 & -- & -- \\" + "\n"
    )
