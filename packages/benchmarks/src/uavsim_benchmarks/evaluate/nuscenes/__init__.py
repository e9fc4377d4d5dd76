"""nuScenes' detection and tracking metrics, and the devkit's own figures."""
