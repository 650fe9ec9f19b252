"""Callbacks for trainers that have an interface of their own. Import each by its own module."""
