"""Configuration to scene plans: pure and seeded."""

from uavsim.plan.scenes import Choices, dataset_towns, plan_scenes, used_files

__all__ = ["Choices", "dataset_towns", "plan_scenes", "used_files"]
