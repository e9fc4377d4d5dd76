"""Training: from a configuration to a checkpoint, resumable at any written step."""

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import torch
from torch import Tensor
from torch.utils.data import DataLoader
from torch.utils.tensorboard import SummaryWriter

from uavsim_baselines.bev.losses import detection_losses, distillation_loss
from uavsim_baselines.config import Config
from uavsim_baselines.data.frames import Frame, read_frames
from uavsim_baselines.data.items import Batch, BatchPlan, Items, collate
from uavsim_baselines.data.late import sights_for
from uavsim_baselines.detector.network import Detector
from uavsim_baselines.errors import BaselineError
from uavsim_baselines.training.checkpoints import (
    Checkpoint,
    detector_of,
    go_on,
    read_checkpoint,
    require_same,
    write_checkpoint,
)
from uavsim_baselines.training.memory import with_memory_reported

__all__ = ["CHECKPOINT", "device_of", "learning_rate", "train"]

CHECKPOINT: Final = "checkpoint.pt"
_LOGS: Final = "logs"

Report = Callable[[int, float], None]
"""Receives the number of finished steps and the last loss."""


def device_of(config: Config) -> torch.device:
    """Return the training device of a configuration.

    Raises:
        BaselineError: a GPU is requested but missing.
    """
    device = config.training.device
    if device == "cuda" and not torch.cuda.is_available():
        raise BaselineError("training.device is cuda, but torch finds no GPU; set it to auto or cpu")
    return torch.device("cuda" if device != "cpu" and torch.cuda.is_available() else "cpu")


def learning_rate(config: Config, step: int) -> float:
    """Return the rate of a step: it rises over the first steps, then falls along a cosine to a hundredth."""
    training = config.training
    if step < training.warmup_steps:
        return training.learning_rate * (step + 1) / (training.warmup_steps + 1)
    share = (step - training.warmup_steps) / max(training.steps - training.warmup_steps, 1)
    return training.learning_rate * (0.01 + 0.99 * (1.0 + math.cos(math.pi * min(share, 1.0))) / 2.0)


def train(config: Config, out: Path, *, report: Report = lambda _step, _loss: None) -> Path:
    """Train a model; a checkpoint in ``out`` is continued. Returns the checkpoint.

    Equal configurations give equal weights on one machine, even after interruptions: batches and random numbers depend on
    seed and step only.

    Raises:
        BaselineError: the dataset or the checkpoint does not fit the configuration.
        OutOfMemory: memory is too small; the message names settings.
    """
    device = device_of(config)
    if config.training.threads:
        torch.set_num_threads(config.training.threads)
    torch.use_deterministic_algorithms(device.type == "cpu")
    path = out / CHECKPOINT
    torch.manual_seed(config.seed)
    detector, first_step = Detector(config).to(device), 0
    optimiser = torch.optim.AdamW(
        detector.parameters(), lr=config.training.learning_rate, weight_decay=config.training.weight_decay
    )
    if path.exists():
        checkpoint = read_checkpoint(path)
        require_same(checkpoint, config, source=path)
        go_on(checkpoint, detector, optimiser, source=path)
        first_step = checkpoint.step
    if first_step >= config.training.steps:
        return path
    teacher = _teacher(config, device)
    frames = read_frames(config.data, config.data.train_split)
    run = _Run(config, detector, optimiser, teacher, device)
    with with_memory_reported(config, device=device), SummaryWriter(out / _LOGS, purge_step=first_step) as log:
        run.go(frames, first_step, path=path, log=log, report=report)
    return path


def _teacher(config: Config, device: torch.device) -> Detector | None:
    if config.sharing.kind != "disconet" or config.sharing.teacher is None:
        return None
    source = config.sharing.teacher
    checkpoint = read_checkpoint(source)
    teacher_config = checkpoint.config
    if teacher_config.sharing.kind != "early":
        raise BaselineError(
            f"{source}: sharing.teacher must be a model with sharing early, this one has {teacher_config.sharing.kind}"
        )
    if (teacher_config.grid, teacher_config.model.bev_channels) != (config.grid, config.model.bev_channels):
        raise BaselineError(f"{source}: grid and model.bev_channels of the teacher must equal the student's")
    return detector_of(checkpoint, source=source).to(device).eval()


class _Run:
    """One training, from a step to the last."""

    def __init__(
        self,
        config: Config,
        detector: Detector,
        optimiser: torch.optim.Optimizer,
        teacher: Detector | None,
        device: torch.device,
    ) -> None:
        self.config, self.detector, self.optimiser = config, detector, optimiser
        self.teacher, self.device = teacher, device

    def go(self, frames: list[Frame], first_step: int, *, path: Path, log: SummaryWriter, report: Report) -> None:
        """Run the remaining steps."""
        training = self.config.training
        plan = BatchPlan(frames, self.config, first_step=first_step)
        loader = DataLoader(
            Items(frames, self.config, sights=sights_for(frames, self.config.data)),
            batch_sampler=plan,
            collate_fn=collate,
        )
        self.detector.train()
        began, seconds_at = time.monotonic(), first_step
        for step, batch in enumerate(loader, first_step):
            losses = self.step(step, batch)
            done = step + 1
            if done % training.log_every == 0 or done == training.steps:
                speed = (done - seconds_at) / max(time.monotonic() - began, 1e-9)
                for name, value in {
                    **losses,
                    "learning_rate": learning_rate(self.config, step),
                    "steps_per_s": speed,
                }.items():
                    log.add_scalar(name, value, done)
            if done % training.checkpoint_every == 0 or done == training.steps:
                state = Checkpoint(self.config, done, self.detector.state_dict(), self.optimiser.state_dict())
                write_checkpoint(path, state)
            report(done, losses["loss"])

    def step(self, step: int, batch: Batch) -> dict[str, float]:
        """Learn from one batch; returns the losses by name.

        Raises:
            BaselineError: the loss is not finite.
        """
        torch.manual_seed(self.config.seed * 1_000_003 + step)
        for group in self.optimiser.param_groups:
            group["lr"] = learning_rate(self.config, step)
        batch = batch.to(self.device)
        mixed = self.config.training.mixed_precision and self.device.type == "cuda"
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=mixed):
            losses = self._losses(batch)
        loss = torch.stack(list(losses.values())).sum()
        loss_value = float(loss.detach())
        if not math.isfinite(loss_value):
            raise BaselineError(f"step {step}: the loss is {loss_value}; reduce training.learning_rate")
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.detector.parameters(), self.config.training.clip_norm)
        self.optimiser.step()
        return {"loss": loss_value, **{name: float(value.detach()) for name, value in losses.items()}}

    def _losses(self, batch: Batch) -> dict[str, Tensor]:
        found = self.detector(batch.views)
        losses = detection_losses(found.maps, heat=batch.heat, values=batch.values, weights=batch.weights)
        if self.teacher is not None:
            with torch.no_grad():
                target = self.teacher(batch.views).features
            losses["teacher"] = self.config.sharing.distillation * distillation_loss(found.features, target)
        return losses
