import pytest

from questions.test_blind import make
from uavsim_benchmarks.questions.checks import check_questions, faults_of

GOOD = {
    "question_id": "d_OC_UAV1_1", "question_type": "2.2 Object Counting (UAV1)", "question": "How many are there?",
    "options": {"A": "1", "B": "2", "C": "3", "D": "4"}, "correct_answer": "B", "uav_paths": {"UAV1": "a.png"},
    "sequence_frame": "f",
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"correct_answer": "E"}, "none of its options"),
        ({"correct_answer": ""}, "lacks correct_answer"),
        ({"options": {"A": "1", "B": "2", "C": "3"}}, "not A, B, C, D"),
        ({"options": {"A": "1", "B": "2", "C": "3", "D": "3"}}, "alike"),
        ({"question": "How?"}, "4 characters"),
        ({"question": "How many? " * 30}, "300 characters"),
    ],
)
def test_a_question_of_bad_form_is_named(change, fault) -> None:
    assert faults_of(GOOD) == []
    (found,) = faults_of(GOOD | change)
    assert fault in found


def test_the_report_names_duplicates_positions_and_priors() -> None:
    common = {"question_type": "2.2 Object Counting (UAV1)", "uav_paths": {"UAV1": "a.png"}}
    questions = [q | common | {"uav_paths": {"UAV1": f"{n}.png"}} for n, q in enumerate(make(300, leak="word"))]
    report = check_questions(
        [*questions, questions[0]], {"2.2 Object Counting": "", "2.1 Object Recognition": "four classes"}
    )
    assert report["duplicates"] == 1
    assert report["tasks_without_questions"] == {"2.1 Object Recognition": "four classes"}
    assert "points above chance, more than chance explains" in report["priors"]["2.2 Object Counting"]
    assert report["positions"]["uniform"]
    at_a = [q | {"correct_answer": "A"} for q in questions]
    assert not check_questions(at_a, {"2.2 Object Counting": ""})["positions"]["uniform"]
