"""File names of a scene flown again have its generation in all tables."""

from uavsim.dataset.fragment import Fragment
from uavsim.dataset.generations import in_generation


def fragment(head):
    return Fragment(
        head=head,
        rows={
            "sample_data": [{"token": "a", "filename": "samples/C/s__C__1.png"}],
            "layer": [{"token": "b", "filename": "masks/C/s__C__1.png"}],
            "sample": [{"token": "c", "timestamp": 1}],
        },
    )


def test_the_first_flight_is_as_it_is():
    made = fragment(None)
    assert in_generation(made, 0) is made


def test_generation_two_marks_file_names_only():
    made = fragment(None)
    again = in_generation(made, 2)
    assert [row["filename"] for rows in again.rows.values() for row in rows if "filename" in row] == [
        "samples/C/s__C__1~2.png",
        "masks/C/s__C__1~2.png",
    ]
    assert again.rows["sample"] == made.rows["sample"]
    assert made.rows["layer"][0]["filename"] == "masks/C/s__C__1.png"
