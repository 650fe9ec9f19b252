"""The examples in the comments of the public headers, as programs.

An example is text in a header's comment, indented by at least three spaces. Parts left to the reader (a `train()`, some
batches) are in tests/docs/headers, under the name of the header, where the line "// EXAMPLE" stands for the example.
"""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
SETTINGS = pathlib.Path(__file__).resolve().parent / "headers"
MARK = re.compile(r"^[ ]*// EXAMPLE\n", re.MULTILINE)


def examples_in(header: pathlib.Path) -> list[str]:
    """The code in the comments of a header, comment by comment."""
    comments, lines = [], []
    for line in [*header.read_text(encoding="utf-8").splitlines(), ""]:
        found = re.match(r"(?://|/\*| \*)(.*?)(?: ?\*/)?$", line)
        if found:
            lines.append(found[1])
        elif lines:
            comments.append(lines)
            lines = []
    code = [[line[3:] if line.startswith("   ") else "" for line in comment] for comment in comments]
    return ["\n".join(comment).strip("\n") + "\n" for comment in code if any(comment)]


def examples(include: pathlib.Path = ROOT / "include" / "zeus") -> dict[str, str]:
    """By the name of the header; a header's second example is "NAME 2"."""
    found = {}
    for header in sorted(include.iterdir()):
        for number, code in enumerate(examples_in(header), 1):
            found[header.name if number == 1 else f"{header.name} {number}"] = code
    return found


def setting_of(name: str) -> pathlib.Path:
    return SETTINGS / (re.sub(r"\W", "_", name) + (".c" if name.split()[0].endswith(".h") else ".cpp"))


def program(name: str, example: str) -> str:
    setting = setting_of(name).read_text(encoding="utf-8")
    if len(MARK.findall(setting)) != 1:
        raise AssertionError(f"{setting_of(name)} needs one line '// EXAMPLE'")
    return MARK.sub(lambda _: example, setting)
