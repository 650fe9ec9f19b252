#!/usr/bin/env python3
"""Holds what people read to docs/glossary.md: the words of its middle column that stand in `backticks` are refused in documents,
in comments, in the strings of programs that hold a sentence, and in the names of tests.

  check_words.py [--root DIR]     exit 1 if anything is refused

tools/words.toml lists what is allowed, and why, and the words that the names of tests do not use besides.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import sys
from collections.abc import Iterator

from check_references import CPP_TOKEN, FENCE, HASH_COMMENTS, HASH_TOKEN, SOURCES, files_of
from source_tree import is_test, tomllib

GLOSSARY = "docs/glossary.md"
SETTINGS = "tools/words.toml"
PROGRAMS = ("src/", "apps/", "drivers/", "python/", "include/")  # their strings are read by people

# What may stand between the words of a phrase: a line's end with the mark of the comment that goes on, or two strings' quotes.
BETWEEN_WORDS = r"[\s#*/\"]+"
CODE = re.compile(r"`+[^`\n]*`+|\]\([^)\s]*\)")
INDENTED_CODE = re.compile(r"^    .*$", re.MULTILINE)
CPP_TEST_NAME = re.compile(r"^(?:TYPED_)?TEST(?:_[FP])?\(\s*\w+,\s*(\w+)", re.MULTILINE)
PYTHON_TEST_NAME = re.compile(r"^ *def (test_\w+)", re.MULTILINE)
BETWEEN_WORDS_OF_A_NAME = re.compile(r"_|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def refused_by(glossary: str) -> dict[str, str]:
    """The refused words of the glossary's table, and what to use in the place of each."""
    better: dict[str, str] = {}
    for line in glossary.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 3:
            better |= {word.lower(): cells[0] for word in re.findall(r"`([^`]+)`", cells[1])}
    return better


class Words:
    """Refused words, found in one go, and what to use in the place of each."""

    def __init__(self, better: dict[str, str]) -> None:
        self.better = better
        phrases = [BETWEEN_WORDS.join(map(re.escape, word.split())) for word in self.better]
        self.pattern = re.compile(rf"\b(?:{'|'.join(phrases)})\b", re.IGNORECASE)


def blanked(pattern: re.Pattern, text: str) -> str:
    """The text with spaces in place of every match, so that places stay."""
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def read_by_people(where: str, path: pathlib.Path, text: str) -> Iterator[tuple[int, str]]:
    """What people read of a file, piece by piece, each with where it begins."""
    if path.suffix == ".md":
        yield 0, blanked(INDENTED_CODE, blanked(CODE, blanked(FENCE, text)))
        return
    strings = where.startswith(PROGRAMS) and not is_test(path)
    pattern = CPP_TOKEN if path.suffix in SOURCES - HASH_COMMENTS else HASH_TOKEN
    begin = end = 0
    was_comment = None
    for token in pattern.finditer(text):
        is_comment = token[0].startswith(("//", "/*", "#", '"""', "'''"))
        if not is_comment and not (strings and " " in token[0].strip("\"' ")):
            continue
        # A comment of several lines, and the strings of one literal, are one piece.
        if is_comment != was_comment or text[end:token.start()].strip():
            yield begin, blanked(CODE, text[begin:end])
            begin = token.start()
        end, was_comment = token.end(), is_comment
    yield begin, blanked(CODE, text[begin:end])


def test_names(path: pathlib.Path, text: str) -> Iterator[tuple[int, str]]:
    """The names of the tests in a file, as words, each with where it stands."""
    pattern = PYTHON_TEST_NAME if path.suffix in HASH_COMMENTS else CPP_TEST_NAME
    for found in pattern.finditer(text):
        yield found.start(1), BETWEEN_WORDS_OF_A_NAME.sub(" ", found[1])


def is_read(where: str, path: pathlib.Path) -> bool:
    if where == GLOSSARY:
        return False
    return path.suffix in SOURCES | HASH_COMMENTS | {".md"} or path.name == "CMakeLists.txt" or where.startswith("packaging/")


class Judge:
    def __init__(self, root: pathlib.Path) -> None:
        self.root = root
        refused = refused_by((root / GLOSSARY).read_text(encoding="utf-8"))
        settings = tomllib.loads((root / SETTINGS).read_text(encoding="utf-8"))
        self.words = Words(refused)
        self.words_of_names = Words(refused | settings.get("test_names", {}))
        self.allowed = settings.get("allowed", [])
        self.unused = list(self.allowed)
        self.refused = 0
        for entry in self.allowed:
            if not entry.get("why"):
                self.refuse(f"{SETTINGS}: '{entry['word']}' is allowed in {entry['in']} without a reason")

    def refuse(self, message: str) -> None:
        self.refused += 1
        print(message, file=sys.stderr)

    def allows(self, where: str, text: str, found: re.Match) -> bool:
        """Whether an entry of the settings has this place, and its `as` stands around what was found."""
        for entry in self.allowed:
            shown = entry.get("as", entry["word"])
            around = text[max(0, found.start() - len(shown)):found.end() + len(shown)]
            if where.startswith(entry["in"]) and found[0].lower() == entry["word"].lower() and shown in around:
                if entry in self.unused:
                    self.unused.remove(entry)
                return True
        return False

    def look_at(self, where: str, path: pathlib.Path) -> None:
        text = path.read_text(encoding="utf-8")
        for offset, piece in read_by_people(where, path, text):
            for found in self.words.pattern.finditer(piece):
                if not self.allows(where, piece, found):
                    line = text.count("\n", 0, offset + found.start()) + 1
                    word = " ".join(re.split(BETWEEN_WORDS, found[0]))
                    self.refuse(f"{where}:{line}: '{word}': use {self.words.better[word.lower()]} ({GLOSSARY})")
        if path.suffix in SOURCES:
            for offset, name in test_names(path, text):
                self.look_at_name(f"{where}:{text.count(chr(10), 0, offset) + 1}", where, name)

    def look_at_name(self, place: str, where: str, name: str) -> None:
        for found in self.words_of_names.pattern.finditer(name):
            if not self.allows(where, name, found):
                better = self.words_of_names.better[found[0].lower()]
                self.refuse(f"{place}: '{found[0]}' in the name of a test: use {better} ({GLOSSARY})")

    def look(self) -> None:
        for path in files_of(self.root):
            where = path.relative_to(self.root).as_posix()
            if is_read(where, path):
                self.look_at(where, path)
        for entry in self.unused:
            self.refuse(f"{SETTINGS}: '{entry['word']}' is allowed in {entry['in']}, where it no longer stands")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    judge = Judge(parser.parse_args().root)
    judge.look()
    if judge.refused:
        print(f"{judge.refused} refused", file=sys.stderr)
    return 1 if judge.refused else 0


if __name__ == "__main__":
    sys.exit(main())
