"""The house's own figures: sizes, tests beside modules, import circles, duplicates of code. ``scripts/house`` prints them."""
