"""Pure numpy: rigid transforms, quaternions, frames, cameras, boxes; no files, no simulators."""
