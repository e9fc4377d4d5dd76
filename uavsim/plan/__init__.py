"""Configuration to scene plans: pure and seeded."""

from uavsim.plan.scenes import dataset_towns, plan_scenes, used_files

__all__ = ["dataset_towns", "plan_scenes", "used_files"]
