"""The examples in the comments of the public headers, as programs.

An example is what stands in a header's first comment, indented by three spaces or more. What it leaves to the reader (a
`train()`, some batches) is in tests/docs/headers, under the name of the header, where the line "// EXAMPLE" stands for it.
"""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
SETTINGS = pathlib.Path(__file__).resolve().parent / "headers"
MARK = re.compile(r"^[ ]*// EXAMPLE\n", re.MULTILINE)


def example_of(header: pathlib.Path) -> str:
    """The code in the first comment of a header; empty where it has none."""
    lines = []
    for line in header.read_text(encoding="utf-8").splitlines():
        found = re.match(r"(?://|/\*| \*)(.*)", line)
        if not found:
            break
        lines.append(found[1])
    code = [line[3:] if line.startswith("   ") else "" for line in lines]
    return "\n".join(code).strip("\n") + "\n" if any(code) else ""


def examples(include: pathlib.Path = ROOT / "include" / "zeus") -> dict[str, str]:
    found = {header.name: example_of(header) for header in sorted(include.iterdir())}
    return {name: code for name, code in found.items() if code}


def setting_of(header: str) -> pathlib.Path:
    return SETTINGS / (header.replace(".", "_") + (".c" if header.endswith(".h") else ".cpp"))


def program(header: str, example: str) -> str:
    setting = setting_of(header).read_text(encoding="utf-8")
    if len(MARK.findall(setting)) != 1:
        raise AssertionError(f"{setting_of(header)} needs one line '// EXAMPLE'")
    return MARK.sub(lambda _: example, setting)
