from tests.probing.conform.test_answers import file_of
from uavsim.probing.conform.ask import Ask
from uavsim.probing.conform.comparison import compare
from uavsim.probing.conform.page import page_of

HOSTILE = "<img src=x onerror=alert(1)>"


def test_a_page_shows_both_answers_and_the_rule() -> None:
    reference = file_of(Ask("lockstep").near("speed", 2.0, 0.5, unit="m/s"))
    tested = file_of(Ask("lockstep").near("speed", 3.25, 0.5, unit="m/s"))
    page = page_of(tested, reference, compare(tested, reference))
    for text in ("3.25 m/s", "2 m/s", "within 0.5 m/s", "1 other", "unreal 0.9.16, Town10HD_Opt"):
        assert text in page, text


def test_server_texts_are_escaped() -> None:
    reference = file_of(Ask("lockstep").equal("a", 1))
    names = [HOSTILE] * 9
    tested = file_of(
        Ask(HOSTILE).equal(HOSTILE, HOSTILE),
        Ask("lockstep").absent("a", HOSTILE),
        Ask("blueprints").holds_all("names", names),
    ).model_copy(update={"server": HOSTILE, "town": HOSTILE, "started": HOSTILE, "client": HOSTILE, "airsim": HOSTILE})
    page = page_of(tested, reference, compare(tested, reference))
    assert "<img" not in page
    assert page.count("&lt;img") >= 15
