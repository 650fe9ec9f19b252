"""Callbacks for trainers with a callback interface of their own. Import each from its own module."""
