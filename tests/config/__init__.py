"""What YAML is taken and refused, and in which words."""
