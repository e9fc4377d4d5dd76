"""The one door to FFmpeg: frames to the bytes of an mp4 or a GIF, by PyAV. The same frames give the same file."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import IO, Any, Final

from uavsim.environment import install_line
from uavsim.errors import InputError
from uavsim.typing import UInt8Array

_THREADS: Final = "1"  # of x264: with four, one encoding in ten came out otherwise on a busy machine
_NO_TREE: Final = {"mbtree": "0"}  # of x264: on processors with AVX-512 its macroblock tree gave other bytes each time
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
        frames: (H, W, 3) RGB, all of one size; an odd line or column is left out where colours are halved.
        fps: frames a second.
        quality: x264's crf, lower is better.
        group: frames from one that stands alone to the next: few where single frames are asked for; 0 is x264's own choice.
        lossless: RGB as 4:4:4 without loss beyond the change of colour space (up to 1 of 255 where colours are pure).
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
            raise InputError("a video needs a frame")
        container.mux(stream.encode(None))
    return file.getvalue()


def decode_mp4(file: IO[bytes] | bytes, *, name: str = "video") -> Iterator[UInt8Array]:
    """Yield the frames of an mp4 file, (H, W, 3) RGB.

    Args:
        file: the video, open or as its bytes.
        name: of the video, for messages.

    Raises:
        InputError: the file is damaged, or another than ``facts_of_mp4`` takes.
    """
    with _opened(file, name) as (container, stream):
        size = (stream.width, stream.height)
        for frame in container.decode(stream):
            if (frame.width, frame.height) != size or frame.format.name not in _PIXELS:
                raise InputError(
                    f"{name}: a frame is {frame.width} x {frame.height} {frame.format.name}, not as its head says"
                )
            yield frame.to_ndarray(format="rgb24")


def facts_of_mp4(file: IO[bytes] | bytes, *, name: str) -> tuple[float, tuple[int, int]]:
    """Return frames a second, and (width, height), without decoding a frame.

    Raises:
        InputError: the file is no mp4 video, or one of another codec, format of pixels or size than is read.
    """
    with _opened(file, name) as (_, stream):
        return float(stream.average_rate or 0), (stream.width, stream.height)


@contextmanager
def _opened(file: IO[bytes] | bytes, name: str) -> Iterator[tuple[Any, Any]]:
    """Open the one container that is read, mp4: FFmpeg chooses no other, and opens no other file and no port.

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
                raise InputError(f"{name}: no video in it")
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
                    f"{name}: {codec.name} of {stream.width} x {stream.height} pixels in {codec.pix_fmt}; read are "
                    f"{', '.join(_CODECS)} of {', '.join(_PIXELS)} up to 3840 x 2160: encode it again as H.264"
                )
            codec.options = limits
            yield container, stream
    except (av.error.FFmpegError, av.error.ArgumentError, ValueError, OverflowError, MemoryError) as error:
        raise InputError(f"{name}: no video in mp4, or a damaged one") from error


def encode_gif(frames: Iterator[UInt8Array], *, fps: float) -> bytes:
    """Return a GIF that repeats, with one palette of 128 colours made from all frames."""
    av, file = _av(), io.BytesIO()
    shown = [av.VideoFrame.from_ndarray(pixels, format="rgb24") for pixels in frames]
    if not shown:
        raise InputError("a video needs a frame")
    rate = Fraction(fps).limit_denominator(1001)
    with av.open(file, "w", format="gif") as container:
        stream = container.add_stream("gif", rate=rate)
        stream.width, stream.height, stream.pix_fmt = shown[0].width, shown[0].height, "pal8"
        graph = _palette_graph(av, shown[0], rate)
        for number, frame in enumerate(shown):
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
    """Return FFmpeg's filters that choose a palette and dither in order, which a GIF compresses well."""
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
