"""Pictures into an mp4 that any browser plays, one at a time: a long film needs no more memory than a short one."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import imageio_ffmpeg  # type: ignore[import-untyped]
import numpy as np
from jaxtyping import UInt8

from ambs.files import replacing

Picture = UInt8[np.ndarray, "height width 3"]


@contextlib.contextmanager
def writing(path: Path, size: tuple[int, int], fps: int) -> Iterator[Callable[[Picture], None]]:
    """A function that adds a picture of `size` (width, height) to the video; `path` appears when all is well."""
    with replacing(path) as partial:
        # Where nothing can be written, that is said here, and not by ffmpeg in many lines.
        partial.touch()
        stream = imageio_ffmpeg.write_frames(
            str(partial),
            size,
            fps=fps,
            codec="libx264",
            pix_fmt_out="yuv420p",
            # Even numbers are all that this codec asks for.
            macro_block_size=2,
            ffmpeg_log_level="error",
            output_params=["-f", "mp4", "-crf", "20", "-movflags", "+faststart"],
        )
        stream.send(None)

        def add(picture: Picture) -> None:
            stream.send(np.ascontiguousarray(picture))

        try:
            yield add
        finally:
            stream.close()
