"""Systems on a chip: the absence of one is ordinary, and this package measures none."""

from __future__ import annotations

from zeus_cpp.device.soc.common import EmptySoC, SoC, SoCMeasurement, ZeusSoCInitError

__all__ = [
    "AppleSilicon",
    "EmptySoC",
    "Jetson",
    "SoC",
    "SoCMeasurement",
    "ZeusAppleInitError",
    "ZeusJetsonInitError",
    "ZeusSoCInitError",
    "apple_silicon_is_available",
    "get_soc",
    "jetson_is_available",
]


class ZeusAppleInitError(ZeusSoCInitError):
    """Apple's chips are not measured."""


class ZeusJetsonInitError(ZeusSoCInitError):
    """Jetson's chips are not measured."""


def apple_silicon_is_available() -> bool:
    """Always false."""
    return False


def jetson_is_available() -> bool:
    """Always false."""
    return False


class AppleSilicon(EmptySoC):
    """Cannot be created."""

    def __init__(self) -> None:
        raise ZeusAppleInitError("Apple's systems on a chip are not measured by this package")


class Jetson(EmptySoC):
    """Cannot be created."""

    def __init__(self) -> None:
        raise ZeusJetsonInitError("Jetson's systems on a chip are not measured by this package")


def get_soc() -> SoC:
    """Always a ZeusSoCInitError."""
    raise ZeusSoCInitError("there is no system on a chip here that this package measures")
