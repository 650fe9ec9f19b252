# A script that takes its settings from variables.
import json
import os

from zeus.utils.env import get_env

os.environ.update({"EPOCHS": "3", "SLOWDOWN": "1.2", "PROFILE": "true", "NAME": "nightly"})
settings = {"epochs": get_env("EPOCHS", int), "slowdown": get_env("SLOWDOWN", float, default=1.1),
            "profile": get_env("PROFILE", bool), "name": get_env("NAME", str), "seed": get_env("SEED", int, default=42)}
try:
    get_env("NOT_THERE", str)
    missing = "found"
except ValueError as error:
    missing = "NOT_THERE" in str(error)
print(json.dumps({"same": [settings, missing]}))
