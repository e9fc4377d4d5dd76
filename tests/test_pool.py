from uavsim.pool import in_order


def test_one_worker_works_here_and_lazily() -> None:
    taken: list[int] = []

    def double(number: int) -> int:
        taken.append(number)
        return 2 * number

    found = in_order(double, iter(range(5)), workers=1)
    assert (next(found), taken) == (0, [0])
    assert list(found) == [2, 4, 6, 8]


def test_several_processes_answer_in_order() -> None:
    assert list(in_order(abs, range(-9, 0), workers=2)) == list(range(9, 0, -1))
