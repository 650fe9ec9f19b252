# Output goes to a file as well.
import json
import os
import sys

from zeus.utils.logging import FileAndConsole

console = sys.stdout
sys.stdout = FileAndConsole("out.txt")
print("epoch 1")
print("epoch 2", end="")
sys.stdout.flush()
sys.stdout = console
print()
print(json.dumps({"same": {"file": open("out.txt").read(), "size": os.path.getsize("out.txt")}}))
