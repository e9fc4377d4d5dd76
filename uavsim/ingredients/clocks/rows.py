"""Rows of the tables of clocks."""

import numpy as np

from uavsim.dataset.rows import ClockReadingRow, ClockRow, MessageRow
from uavsim.dataset.schema import CLOCK, CLOCK_READING, MESSAGE, Tables
from uavsim.dataset.tokens import token
from uavsim.records.clocks import ClocksPlan
from uavsim.records.labels import SceneLabels


def rows(labels: SceneLabels, planned: ClocksPlan, tables: Tables) -> Tables:
    """Return one row a clock, one an image of a firing, and one a message."""
    del tables
    plan = labels.plan
    base, scene = (plan.dataset, plan.scene_name), token(plan.dataset, plan.scene_name, "scene")
    clocks: list[ClockRow] = [
        {
            "token": token(*base, "clock", agent.id),
            "scene_token": scene,
            "agent": agent.id,
            "rate_hz": planned.rate_hz,
            "step_us": plan.step_us,
            "drift_ppm": float(planned.drift_ppm[k]),
            "offset_us": float(planned.offset_us[k]),
        }
        for k, agent in enumerate(planned.agents)
    ]
    return {
        CLOCK.name: clocks,
        CLOCK_READING.name: _readings(labels, planned),
        MESSAGE.name: _messages(labels, planned, scene),
    }


def _readings(labels: SceneLabels, planned: ClocksPlan) -> list[ClockReadingRow]:
    plan = labels.plan
    fired = {
        (step, planned.agents[who].id): n
        for n, (step, who) in enumerate(zip(planned.step.tolist(), planned.fires.tolist(), strict=True))
    }
    made: list[ClockReadingRow] = []
    for frame in labels.frames:
        for reading in frame.cameras:
            n = fired.get((frame.step, reading.sensor.agent.id))
            if n is None:
                continue  # of a keyframe, which takes all, whoever's clock fires
            own = token(plan.dataset, plan.scene_name, "sample_data", reading.channel, frame.timestamp_us)
            taken_us, who = frame.step * plan.step_us, planned.fires[n]
            shown_us = taken_us * (1 + planned.drift_ppm[who] * 1e-6) + planned.offset_us[who]
            made.append(
                {
                    "token": own,
                    "sample_data_token": own,
                    "asked_us": float(planned.asked_us[n]),
                    "residual_us": float(taken_us - planned.asked_us[n]),
                    "agent_timestamp": plan.start_timestamp_us + round(shown_us),
                }
            )
    return made


def _messages(labels: SceneLabels, planned: ClocksPlan, scene: str) -> list[MessageRow]:
    plan, ids = labels.plan, [agent.id for agent in planned.agents]
    sent = zip(planned.message.tolist(), planned.receiver.tolist(), planned.arrival_us.tolist(), strict=True)
    start = plan.start_timestamp_us
    return [
        {
            "token": token(plan.dataset, plan.scene_name, "message", n, to),
            "scene_token": scene,
            "sender": ids[planned.fires[n]],
            "receiver": ids[to],
            "timestamp": start + int(planned.step[n]) * plan.step_us,
            "arrival": 0 if np.isnan(arrival) else start + round(arrival),
        }
        for n, to, arrival in sent
    ]
