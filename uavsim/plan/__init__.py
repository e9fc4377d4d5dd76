"""Configuration to scene plans: pure and seeded."""

from uavsim.plan.scenes import dataset_towns, plan_scenes

__all__ = ["dataset_towns", "plan_scenes"]
