import pytest

from tests.probing.conform.test_answers import file_of
from uavsim.probing.conform.answers import Answer
from uavsim.probing.conform.ask import Ask
from uavsim.probing.conform.comparison import by_capability, compare, result_of

ASK = Ask("lockstep")


@pytest.mark.parametrize(
    ("answer", "reference", "result"),
    [
        (ASK.equal("a", 3), ASK.equal("a", 3), "as here"),
        (ASK.equal("a", 4), ASK.equal("a", 3), "other"),
        (
            ASK.near("a", 1.09, 9.0),
            ASK.near("a", 1.0, 0.1),
            "as here",
        ),  # the reference's tolerance, not the other file's
        (ASK.near("a", 1.2, 9.0), ASK.near("a", 1.0, 0.1), "other"),
        (ASK.near("a", [1.0, 2.0], 0.1), ASK.near("a", [1.0, 2.05], 0.1), "as here"),
        (ASK.near("a", [1.0], 0.1), ASK.near("a", [1.0, 2.0], 0.1), "other"),
        (ASK.near("a", "1.0", 0.1), ASK.near("a", 1.0, 0.1), "other"),
        (ASK.at_most("a", 0.4, 9.0), ASK.at_most("a", 0.0, 0.5), "as here"),
        (ASK.at_most("a", 0.6, 9.0), ASK.at_most("a", 0.0, 0.5), "other"),
        (ASK.at_least("a", 0.4, 0.0), ASK.at_least("a", 3.0, 0.5), "other"),
        (ASK.holds_all("a", ["x", "y", "z"]), ASK.holds_all("a", ["x", "y"]), "as here"),
        (ASK.holds_all("a", ["x"]), ASK.holds_all("a", ["x", "y"]), "other"),
        (ASK.absent("a", "no"), ASK.equal("a", 3), "not there"),
        (ASK.absent("a", "no"), ASK.absent("a", "another reason"), "as here"),
        (ASK.equal("a", 3), ASK.absent("a", "no"), "other"),
        (ASK.uncompared("a", 3), ASK.uncompared("a", 999), "shown"),
    ],
)
def test_rules(answer: Answer, reference: Answer, result: str) -> None:
    assert result_of(answer, reference, same_town=True) == result


def test_town_only_answers_are_compared_in_the_same_town() -> None:
    here = file_of(ASK.equal("lights", 26, town_only=True))
    same = here.model_copy(update={"town": "Carla/Maps/Town10HD", "answers": (ASK.equal("lights", 3, town_only=True),)})
    assert compare(same, here)[0].result == "other"
    assert compare(same.model_copy(update={"town": "Town01"}), here)[0].result == "shown"


def test_a_capability_has_the_worst_result_of_its_questions() -> None:
    reference = file_of(
        ASK.equal("a", 1), ASK.equal("b", 1), Ask("stamps").equal("c", 1), Ask("AirSim flight").equal("d", 1)
    )
    tested = file_of(Ask("stamps").equal("c", 1), ASK.equal("a", 1), Ask("rates").uncompared("new", 5))
    found = {name: result for name, result, _ in by_capability(compare(tested, reference))}
    assert found == {"lockstep": "not there", "stamps": "as here", "rates": "shown"}  # AirSim was not asked


def test_unfinished_probe_is_reported() -> None:
    ended = Ask("stamps").absent("asked to the end", "the client ended with code -11")
    found = {
        name: result for name, result, _ in by_capability(compare(file_of(ended), file_of(Ask("stamps").equal("c", 1))))
    }
    assert found == {"stamps": "not there"}
