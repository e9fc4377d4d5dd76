"""MP4 and GIF files by PyAV (FFmpeg); equal frames give equal bytes."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import IO, Any, Final

from uavsim.environment import install_line
from uavsim.errors import InputError
from uavsim.typing import UInt8Array

_THREADS: Final = "1"  # several threads of x264 give varying bytes
_NO_TREE: Final = {"mbtree": "0"}  # x264's macroblock tree gives varying bytes with AVX-512
_COLOURS: Final = 128
_CODECS: Final = ("h264", "hevc", "mpeg4", "vp9", "av1")
_PIXELS: Final = ("yuv420p", "yuvj420p", "yuv422p", "yuv444p", "yuvj444p", "gbrp")
_MOST_PIXELS: Final = 3840 * 2160


def _av() -> Any:
    try:
        import av
    except ImportError as error:
        raise InputError(f"videos are written by PyAV, which is not installed: {install_line('video')}") from error
    return av


def encode_mp4(
    frames: Iterator[UInt8Array], *, fps: float, quality: int = 20, lossless: bool = False, group: int = 0
) -> bytes:
    """Return an H.264 video.

    Args:
        frames: (H, W, 3) uint8 RGB of one size; lossy videos lose an odd last line or column.
        fps: frame rate, Hz.
        quality: x264's crf, lower is better.
        lossless: encode 4:4:4 without loss except for the colour space conversion (up to 1 of 255).
        group: frames between key frames; 0 is x264's default.
    """
    av, file = _av(), io.BytesIO()
    options = ({"qp": "0", "preset": "veryfast"} if lossless else {"crf": str(quality), **_NO_TREE}) | (
        {"g": str(group)} if group else {}
    )
    with av.open(file, "w", format="mp4") as container:
        stream = None
        for pixels in frames:
            cut = pixels if lossless else pixels[: pixels.shape[0] // 2 * 2, : pixels.shape[1] // 2 * 2]
            frame = av.VideoFrame.from_ndarray(cut, format="rgb24")
            if stream is None:
                rate = Fraction(fps).limit_denominator(1001)
                stream = container.add_stream("libx264", rate=rate, options=options | {"threads": _THREADS})
                stream.width, stream.height = frame.width, frame.height
                stream.pix_fmt = "yuv444p" if lossless else "yuv420p"
            container.mux(stream.encode(frame))
        if stream is None:
            raise InputError("a video needs at least one frame")
        container.mux(stream.encode(None))
    return file.getvalue()


def decode_mp4(file: IO[bytes] | bytes, *, name: str = "video") -> Iterator[UInt8Array]:
    """Yield the frames of an mp4 file, (H, W, 3) uint8 RGB.

    Args:
        file: the open file or its bytes.
        name: name of the video in messages.

    Raises:
        InputError: the file is damaged, or ``facts_of_mp4`` refuses it.
    """
    with _opened(file, name) as (container, stream):
        size = (stream.width, stream.height)
        for frame in container.decode(stream):
            if (frame.width, frame.height) != size or frame.format.name not in _PIXELS:
                raise InputError(
                    f"{name}: a frame is {frame.width} x {frame.height} {frame.format.name}, unlike its header"
                )
            yield frame.to_ndarray(format="rgb24")


def facts_of_mp4(file: IO[bytes] | bytes, *, name: str) -> tuple[float, tuple[int, int]]:
    """Return the frame rate in Hz and (width, height) without decoding a frame.

    Raises:
        InputError: the file is not mp4 video, or its codec, pixel format or size is not supported.
    """
    with _opened(file, name) as (_, stream):
        return float(stream.average_rate or 0), (stream.width, stream.height)


@contextmanager
def _opened(file: IO[bytes] | bytes, name: str) -> Iterator[tuple[Any, Any]]:
    """Open an mp4 file without allowing FFmpeg another container, file or port.

    Raises:
        InputError: see ``decode_mp4``.
    """
    av = _av()
    limits = {"max_pixels": str(_MOST_PIXELS)}
    data = io.BytesIO(file) if isinstance(file, bytes) else file
    data.seek(0)
    try:
        with av.open(data, format="mp4", options=limits | {"protocol_whitelist": "file"}) as container:
            if not container.streams.video:
                raise InputError(f"{name}: no video track")
            stream = container.streams.video[0]
            codec = stream.codec_context
            if codec is None:
                raise InputError(f"{name}: FFmpeg has no decoder of its video; encode it again as H.264")
            if (
                codec.name not in _CODECS
                or codec.pix_fmt not in _PIXELS
                or not 0 < stream.width * stream.height <= _MOST_PIXELS
            ):
                raise InputError(
                    f"{name}: {codec.name} of {stream.width} x {stream.height} pixels in {codec.pix_fmt}; supported: "
                    f"{', '.join(_CODECS)} of {', '.join(_PIXELS)} up to 3840 x 2160: encode it again as H.264"
                )
            codec.options = limits
            yield container, stream
    except (av.error.FFmpegError, av.error.ArgumentError, ValueError, OverflowError, MemoryError) as error:
        raise InputError(f"{name}: no video track, or a damaged mp4 file") from error


def encode_gif(frames: Iterator[UInt8Array], *, fps: float) -> bytes:
    """Return a looping GIF of (H, W, 3) uint8 RGB frames, with one palette of 128 colours."""
    av, file = _av(), io.BytesIO()
    video_frames = [av.VideoFrame.from_ndarray(pixels, format="rgb24") for pixels in frames]
    if not video_frames:
        raise InputError("a video needs at least one frame")
    rate = Fraction(fps).limit_denominator(1001)
    with av.open(file, "w", format="gif") as container:
        stream = container.add_stream("gif", rate=rate)
        stream.width, stream.height, stream.pix_fmt = video_frames[0].width, video_frames[0].height, "pal8"
        graph = _palette_graph(av, video_frames[0], rate)
        for number, frame in enumerate(video_frames):
            frame.pts, frame.time_base = number, 1 / rate
            graph.push(frame)
        graph.push(None)
        while True:
            try:
                container.mux(stream.encode(graph.pull()))
            except (av.error.BlockingIOError, av.error.EOFError):
                break
        container.mux(stream.encode(None))
    return file.getvalue()


def _palette_graph(av: Any, first: Any, rate: Fraction) -> Any:
    """Return an FFmpeg filter graph that chooses a palette and dithers in a pattern that compresses well."""
    graph = av.filter.Graph()
    source = graph.add_buffer(width=first.width, height=first.height, format=first.format, time_base=1 / rate)
    split = graph.add("split")
    palette = graph.add("palettegen", f"max_colors={_COLOURS}:stats_mode=diff")
    use, sink = graph.add("paletteuse", "dither=bayer:bayer_scale=4:diff_mode=rectangle"), graph.add("buffersink")
    source.link_to(split)
    split.link_to(palette, 0, 0)
    split.link_to(use, 1, 0)
    palette.link_to(use, 0, 1)
    use.link_to(sink)
    graph.configure()
    return graph
