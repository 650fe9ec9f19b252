"""Small tools that training scripts import by name."""
