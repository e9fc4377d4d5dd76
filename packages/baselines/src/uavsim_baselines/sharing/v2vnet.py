"""V2VNet: rounds of messages between all drones, which update their features by a convolutional GRU.

Source: Wang, Manivasagam, Liang, Yang, Zeng, Urtasun: "V2VNet: Vehicle-to-Vehicle Communication for Joint Perception and
Prediction", ECCV 2020, section 3.2. The compression is omitted. If messages have an age, the message convolution gets it in
seconds as an additional channel, in place of the paper's time correction.
"""

import torch
from torch import Tensor, nn

from uavsim_baselines.config import SharingConfig
from uavsim_baselines.sharing.messages import Messages, Shared, Sharing, feature_bytes, in_grid_of


class V2VNet(Sharing):
    """A graph of drones; the mean of the received messages updates a cell. A drone without messages keeps its features."""

    def __init__(self, channels: int, config: SharingConfig) -> None:
        super().__init__()
        self.rounds = config.rounds
        self.time = config.time
        self.message = nn.Sequential(nn.Conv2d(2 * channels + self.time, channels, 3, padding=1), nn.ReLU())
        self.gates = nn.Conv2d(2 * channels, 2 * channels, 3, padding=1)
        self.candidate = nn.Conv2d(2 * channels, channels, 3, padding=1)

    def forward(self, messages: Messages) -> Shared:
        """Return the ego's features after the last round, in which only the ego receives."""
        state, present = messages.features, messages.present
        drones = state.shape[1]
        for number in range(self.rounds):
            receivers = range(drones) if number < self.rounds - 1 else range(1)
            heard = [self._updated(receiver, state, messages) for receiver in receivers]
            state = torch.stack(heard, dim=1) if len(heard) == drones else heard[0][:, None]
        has_sender = present[:, 1:].any(1).long()
        broadcasts = has_sender * (present.sum(1) * (self.rounds - 1) + present[:, 1:].sum(1))
        return Shared(state[:, 0], broadcasts * feature_bytes(messages.features))

    def _updated(self, receiver: int, state: Tensor, messages: Messages) -> Tensor:
        state_of_receiver = state[:, receiver]
        others = [d for d in range(state.shape[1]) if d != receiver]
        if not others:
            return state_of_receiver
        moved, reach = in_grid_of(receiver, state, messages)
        moved, heard = moved[:, others], reach[:, others, None]
        pairs = torch.cat([state_of_receiver[:, None].expand_as(moved), moved], dim=2)
        if self.time:
            age_s = pairs.new_zeros(moved.shape[:2]) if messages.age_s is None else messages.age_s[:, others]
            pairs = torch.cat([pairs, age_s[..., None, None, None].expand_as(pairs[:, :, :1])], dim=2)
        received = self.message(pairs.flatten(0, 1)).unflatten(0, moved.shape[:2]) * heard
        mean = received.sum(1) / heard.sum(1).clamp(min=1)
        listens = messages.present[:, others].any(1) & messages.present[:, receiver]
        return torch.where(listens[:, None, None, None], self._gru(state_of_receiver, mean), state_of_receiver)

    def _gru(self, state: Tensor, message: Tensor) -> Tensor:
        reset, update = self.gates(torch.cat([state, message], dim=1)).sigmoid().chunk(2, dim=1)
        candidate = self.candidate(torch.cat([reset * state, message], dim=1)).tanh()
        updated: Tensor = (1.0 - update) * state + update * candidate
        return updated
