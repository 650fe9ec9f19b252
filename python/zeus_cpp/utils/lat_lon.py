"""Where this machine is, roughly."""

from __future__ import annotations

import json
import urllib.request


def get_ip_lat_long() -> tuple[float, float]:
    """Latitude and longitude of this machine's address according to ipinfo.io; an OSError if it cannot be reached."""
    with urllib.request.urlopen("https://ipinfo.io/json", timeout=10) as answer:
        latitude, longitude = json.load(answer)["loc"].split(",")
    return float(latitude), float(longitude)
