"""Every message of docs/troubleshooting.md is printed by the programs: its words are in the strings of the sources, with `…`
for inserted values. A planted unknown message is refused.
"""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "troubleshooting.md"
MESSAGE = re.compile(r"^\| `([^`]+)`", re.MULTILINE)
STRINGS = re.compile(r'"((?:\\.|[^"\\\n])*)"(?:\s*f?"((?:\\.|[^"\\\n])*)")*')
ONE = re.compile(r'"((?:\\.|[^"\\\n])*)"')
PLACE = re.compile(r"\{(?!batch_size)[^{}]*\}")


def printed() -> list[str]:
    """The strings of the sources, adjacent ones joined, with `…` in place of inserted values."""
    found = []
    for folder, suffixes in (("src", {".cpp", ".hpp"}), ("apps", {".cpp"}), ("python/zeus_cpp", {".py"})):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in suffixes and not path.stem.endswith("_test"):
                code = re.sub(r"^\s*(//|#(?!include)).*$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
                found += [PLACE.sub("…", "".join(ONE.findall(group[0]))) for group in STRINGS.finditer(code)]
    return found


def messages(text: str) -> list[str]:
    return MESSAGE.findall(text)


def is_printed(message: str, strings: list[str]) -> bool:
    """Whether one string has all the words between the gaps of the message, in their order."""
    pieces = [piece for piece in message.split("…") if piece.strip(" :;,.")]
    pattern = re.compile(".*".join(re.escape(piece.strip()) for piece in pieces), re.DOTALL)
    return bool(pieces) and any(pattern.search(text) for text in strings)


class Messages(unittest.TestCase):
    def test_each_is_in_the_source(self):
        strings, listed = printed(), messages(PAGE.read_text(encoding="utf-8"))
        self.assertGreater(len(listed), 25)
        gone = [message for message in listed if not is_printed(message, strings)]
        self.assertEqual(gone, [], "docs/troubleshooting.md explains messages that no program prints")

    def test_a_planted_one_is_refused(self):
        strings = printed()
        for wrong in ("no GPU can be found; …", "… is leased to …", "the store … was written by a younger Zeus: …", "…"):
            self.assertFalse(is_printed(wrong, strings), wrong)


if __name__ == "__main__":
    unittest.main()
