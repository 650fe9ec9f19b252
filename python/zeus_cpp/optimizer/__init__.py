"""Optimizers of a training's energy: power limit, batch size, pipeline frequencies. Import each by its own module."""
