from tools.bench.table import table


def test_every_row_is_a_line_and_bars_stay_in_their_cell():
    rows = [
        {"name": "a", "value": 0.123456, "unit": "s", "how": "x | y"},
        {"name": "b", "value": 2, "unit": "x", "how": "z"},
    ]
    assert table(rows).splitlines()[2:] == ["| a | 0.1235 | s | x \\| y |", "| b | 2 | x | z |"]
