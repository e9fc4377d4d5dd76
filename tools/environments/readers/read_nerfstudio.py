"""Read a scene with nerfstudio's own data parser and print its content: read_nerfstudio.py FOLDER."""

import json
import sys
from pathlib import Path

from absent import stub_packages

# What trainers and viewers need; a data parser does not.
stub_packages(
    "torch.utils.tensorboard", "tensorboard", "wandb", "comet_ml", "nerfacc", "gsplat", "torchvision", "viser"
)
stub_packages(
    "mediapy", "appdirs", "rawpy", "newrawpy", "splines", "msgpack_numpy", "pymeshlab", "xatlas", "torchmetrics", "av"
)
from nerfstudio.data.dataparsers.nerfstudio_dataparser import NerfstudioDataParserConfig  # noqa: E402 - after the lines above

config = NerfstudioDataParserConfig(
    data=Path(sys.argv[1]),
    orientation_method="none",
    center_method="none",
    auto_scale_poses=False,
    eval_mode="all",
    downscale_factor=1,
    load_3D_points=True,
)
outputs = config.setup().get_dataparser_outputs("train")
report = {
    "images": [str(path) for path in outputs.image_filenames],
    "camera_to_worlds": outputs.cameras.camera_to_worlds.tolist(),
    "fx": outputs.cameras.fx.flatten().tolist(),
    "points": outputs.metadata["points3D_xyz"].tolist(),
}
sys.stdout.write(json.dumps(report) + "\n")
