"""Configuration to scene plans: pure and seeded."""

from uavsim.plan.scenes import DatasetPlanner, plan_scenes

__all__ = ["DatasetPlanner", "plan_scenes"]
