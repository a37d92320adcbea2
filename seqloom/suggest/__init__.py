"""Data that comes without a recipe: what its columns hold, and settings that fit it."""
