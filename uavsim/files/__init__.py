"""File names, reading foreign files, and writing: the only package that deletes or overwrites files."""
