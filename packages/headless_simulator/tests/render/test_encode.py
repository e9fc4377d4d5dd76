import numpy as np
from headless_simulator.render import encode_depth, encode_instance, encode_normal, encode_semantic
from headless_simulator.scene import STATIC_ID


def test_instance_pixels_on_paper() -> None:
    ids = np.array([[0, 300, 70000, STATIC_ID | 5, STATIC_ID | 0x9001]], dtype=np.uint32)
    tag = np.array([[1, 14, 12, 3, 9]], dtype=np.uint8)
    bgra = np.zeros((1, 5, 4), np.uint8)

    encode_instance(ids, tag, bgra)

    # 300 = 1 * 256 + 44; 70000 & 0xffff = 4464 = 17 * 256 + 112; statics get 0x80 in the high byte
    assert bgra[0].tolist() == [
        [0, 0, 1, 255],
        [1, 44, 14, 255],
        [17, 112, 12, 255],
        [0x80, 5, 3, 255],
        [0x90, 1, 9, 255],
    ]


def test_semantic_pixels_hold_the_tag_in_red() -> None:
    bgra = np.full((1, 2, 4), 7, np.uint8)
    encode_semantic(np.array([[11, 24]], np.uint8), bgra)

    assert bgra[0].tolist() == [[0, 0, 11, 255], [0, 0, 24, 255]]


def test_depth_decodes_to_metres() -> None:
    depth = np.array([[0.5, 12.345, 250.0, 1000.0, 5000.0, np.inf]], dtype=np.float32)
    bgra = np.zeros((1, 6, 4), np.uint8)

    encode_depth(depth, bgra)

    blue, green, red = (bgra[0, :, i].astype(float) for i in range(3))
    metres = 1000.0 * (red + green * 256 + blue * 65536) / (256**3 - 1)
    np.testing.assert_allclose(metres, [0.5, 12.345, 250, 1000, 1000, 1000], atol=1e-4)
    assert (bgra[..., 3] == 255).all()


def test_normals_map_to_bytes() -> None:
    normal = np.array([[[0, 0, 1], [1, 0, 0], [0, -1, 0]]], dtype=np.float32)
    bgra = np.zeros((1, 3, 4), np.uint8)

    encode_normal(normal, bgra)

    assert bgra[0].tolist() == [[255, 127, 127, 255], [127, 127, 255, 255], [127, 0, 127, 255]]
