import pytest
from headless_simulator.behaviours import BEHAVIOURS, IDEAL, UNREAL, BehaviourError, behaviours_of


def test_defaults_are_the_first_values_and_unreal_selects_each_source_value():
    assert dict(IDEAL) == {name: behaviour.values[0] for name, behaviour in BEHAVIOURS.items()}
    assert dict(behaviours_of(["unreal"])) == dict(UNREAL) == {n: b.unreal for n, b in BEHAVIOURS.items()}


def test_a_later_word_overrides_unreal():
    assert behaviours_of(["unreal", "reset=quick"])["reset"] == "quick"
    assert behaviours_of(["unreal", "reset=quick"])["exposure"] == "adapts"


@pytest.mark.parametrize("word", ["speed=slow", "reset=never", "reset", ""])
def test_an_unknown_behaviour_or_value_is_refused_with_what_there_is(word):
    with pytest.raises(BehaviourError, match=r"there are unreal, first-image|quick or slow"):
        behaviours_of([word])
