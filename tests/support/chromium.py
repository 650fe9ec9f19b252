"""A Chromium that a test drives as its user would, by keys, over its debugging pipe.

    with chromium.Browser() as browser:
        page = browser.page(url, width=390, scheme="dark")
        page.press("Tab")
        page.value("document.activeElement.id")
"""

import base64
import fcntl
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time

KEYS = {"Tab": (9, ""), "Enter": (13, "\r"), "ArrowDown": (40, ""), "ArrowUp": (38, ""), "Space": (32, " ")}
# Descriptors that a shell can move to 3 and 4, where Chromium looks for its pipe.
HIGH = 20


def program() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def moved_up(descriptor: int) -> int:
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, HIGH)
    os.close(descriptor)
    return moved


class Browser:
    def __enter__(self) -> "Browser":
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_read, self.write_end, self.read_end, to_write = (moved_up(end) for pipe in (os.pipe(), os.pipe()) for end in pipe)
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{to_read} 4>&{to_write}', "bash", program(), "--headless", "--no-sandbox", "--disable-gpu",
             "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
             "--remote-debugging-pipe", f"--user-data-dir={self.folder.name}", "about:blank"],
            pass_fds=(to_read, to_write), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.rest = b""
        self.number = 0
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.write_end)
        os.close(self.read_end)
        self.folder.cleanup()

    def call(self, method: str, session: str | None = None, **parameters: object) -> dict:
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters, **({"sessionId": session} if session else {})}
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + 120
        while True:
            while b"\0" not in self.rest:
                assert select.select([self.read_end], [], [], max(0.0, deadline - time.monotonic()))[0], f"{method} is not answered"
                piece = os.read(self.read_end, 1 << 20)
                assert piece, "Chromium has ended"
                self.rest += piece
            one, _, self.rest = self.rest.partition(b"\0")
            answer = json.loads(one)
            if answer.get("id") == self.number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]

    def page(self, url: str, width: int = 1280, scheme: str = "light") -> "Page":
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        page = Page(self, self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"])
        page.look_like(width, scheme)
        page.call("Page.navigate", url=url)
        page.wait_for(f"location.href.startsWith({json.dumps(url)}) && document.readyState === 'complete'")
        return page


class Page:
    def __init__(self, browser: Browser, session: str) -> None:
        self.browser = browser
        self.session = session

    def call(self, method: str, **parameters: object) -> dict:
        return self.browser.call(method, self.session, **parameters)

    def look_like(self, width: int, scheme: str) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def value(self, expression: str) -> object:
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait_for(self, condition: str) -> None:
        deadline = time.monotonic() + 60
        while not self.value(condition):
            assert time.monotonic() < deadline, f"{condition} did not come true"
            time.sleep(0.05)

    def press(self, key: str) -> None:
        code, text = KEYS[key]
        known = {"key": " " if key == "Space" else key, "code": key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **known, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **known)

    def type(self, text: str) -> None:
        for letter in text:
            self.call("Input.dispatchKeyEvent", type="keyDown", key=letter, text=letter)
            self.call("Input.dispatchKeyEvent", type="keyUp", key=letter)

    def tab_to(self, identity: str, most: int = 30) -> None:
        """Presses Tab until the element with this ID has the focus."""
        for _ in range(most):
            if self.value("document.activeElement.id") == identity:
                return
            self.press("Tab")
        raise AssertionError(f"'{identity}' is not reached by Tab")

    def picture(self, file: pathlib.Path) -> None:
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        file.write_bytes(base64.b64decode(shot["data"]))
