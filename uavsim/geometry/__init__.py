"""Pure numpy: rigid transforms, quaternions, frames, cameras, boxes; knows no file and no simulator."""
