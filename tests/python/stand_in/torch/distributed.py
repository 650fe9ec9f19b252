"""There is no distributed training here."""


def is_available() -> bool:
    return False


def is_initialized() -> bool:
    return False
