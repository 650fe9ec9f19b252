import time


def train() -> None:
    time.sleep(0.1)


def evaluate() -> float:
    return 0.5


loader = [(0, 0)] * 50
