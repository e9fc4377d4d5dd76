"""Point clouds as binary PCD and PLY files."""

from typing import Final

import numpy as np

from uavsim.typing import AnyArray, FloatArray

_PLY_TYPES: Final = {"<f4": "float", "|u1": "uchar"}


def pcd_bytes(points_m: FloatArray, values: AnyArray, *, field: str) -> bytes:
    """Return a PCD file.

    Args:
        points_m: (N, 3) points, metres.
        values: (N,) values of 4 bytes, the fourth field.
        field: name of the fourth field.
    """
    count = len(points_m)
    head = (
        f"# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\nFIELDS x y z {field}\nSIZE 4 4 4 4\nTYPE F F F F\n"
        f"COUNT 1 1 1 1\nWIDTH {count}\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS {count}\nDATA binary\n"
    )
    rows = np.empty(count, dtype=[("xyz", "<f4", 3), (field, values.dtype.str)])
    rows["xyz"], rows[field] = points_m, values
    return head.encode("ascii") + rows.tobytes()


def ply_bytes(columns: dict[str, AnyArray]) -> bytes:
    """Return a PLY file of vertices.

    Args:
        columns: (N,) float32 or uint8 values by property.
    """
    count = len(next(iter(columns.values())))
    rows = np.empty(count, dtype=[(name, values.dtype.str) for name, values in columns.items()])
    for name, values in columns.items():
        rows[name] = values
    properties = "".join(f"property {_PLY_TYPES[values.dtype.str]} {name}\n" for name, values in columns.items())
    head = f"ply\nformat binary_little_endian 1.0\nelement vertex {count}\n{properties}end_header\n"
    return head.encode("ascii") + rows.tobytes()
