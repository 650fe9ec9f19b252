#!/usr/bin/env python3
"""Makes docs/images/demo.png: the upper part of the page that `zeus demo --quick` writes, as Chromium (Debian's package) shows it.

  draw_screenshot.py ZEUS
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

PICTURE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "images" / "demo.png"
SIZE = "1000,850"
MOST_BYTES = 150_000


def main() -> int:
    browser = shutil.which("chromium")
    if not browser:
        print("there is no Chromium; install Debian's package chromium", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as name:
        page = pathlib.Path(name) / "demo.html"
        subprocess.run([sys.argv[1], "demo", "--quick", "--quiet", "--html", page], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--window-size={SIZE}",
                        f"--screenshot={PICTURE}", page.as_uri()], check=True, stderr=subprocess.DEVNULL)
    size = PICTURE.stat().st_size
    print(f"{PICTURE}: {size} bytes")
    return 0 if size < MOST_BYTES else 1


if __name__ == "__main__":
    sys.exit(main())
