from headless_simulator.world.table import CONTROLLER, PROP, VEHICLE, WALKER, ActorTable


def test_rows_are_sorted_by_actor_id_after_claim_and_release() -> None:
    table = ActorTable()
    rows = [table.claim(kind, actor_id) for kind, actor_id in ((VEHICLE, 9), (WALKER, 4), (VEHICLE, 2))]
    assert [table.rows().tolist(), table.rows(VEHICLE).tolist(), table.rows(PROP).tolist()] == [[2, 1, 0], [2, 0], []]

    table.release(rows[0])
    assert [table.rows().tolist(), table.rows(VEHICLE).tolist()] == [[2, 1], [2]]

    assert table.claim(CONTROLLER, 1) == rows[0]
    assert [table.rows().tolist(), table.rows(VEHICLE, CONTROLLER).tolist()] == [[0, 2, 1], [0, 2]]


def test_reused_row_is_blank() -> None:
    table = ActorTable()
    row = table.claim(VEHICLE, 1)
    table.c.pose[row], table.c.parent[row], table.c.lights[row] = 7.0, 3, 5
    table.release(row)

    assert table.claim(WALKER, 2) == row
    assert table.c.pose[row].tolist() == [0.0] * 6
    assert (table.c.parent[row], table.c.lights[row], table.c.kind[row], table.c.actor_id[row]) == (-1, 0, WALKER, 2)


def test_table_grows() -> None:
    table = ActorTable()
    for number in range(600):
        table.claim(VEHICLE, number + 1)

    assert table.rows(VEHICLE).tolist() == list(range(600))
