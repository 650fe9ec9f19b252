#!/usr/bin/env python3
"""Draws the floors of layers.toml into docs/architecture.md, between its two markers.

  draw_layers.py             rewrites the drawing
  draw_layers.py --check     exit 1 if the document differs from layers.toml
"""

import argparse
import pathlib
import sys

from source_tree import Layers, Module

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "architecture.md"
BEGIN = "<!-- floors: drawn by tools/draw_layers.py -->"
END = "<!-- end of floors -->"


def row(module: Module) -> str:
    built = (ROOT / module.folder / "CMakeLists.txt").exists()
    name = f"`{module.name}`" if built else f"`{module.name}` *(to come)*"
    uses = "everything below" if "*" in module.uses else ", ".join(module.uses) or "—"
    outside = ", ".join(module.external) or "—"
    public = ", ".join(f"`zeus/{header}`" for header in module.public) or "—"
    return f"| {module.floor:g} | {name} | {uses} | {outside} | {public} |"


def drawing(layers: Layers) -> str:
    modules = sorted(layers.modules.values(), key=lambda module: (-module.floor, module.name))
    table = ["| floor | module | uses, beside `base` | from outside | public headers |", "|--:|---|---|---|---|"]
    table += [row(module) for module in modules]
    table += ["", "| program | composed of | from outside |", "|---|---|---|"]
    for program in layers.programs.values():
        built = (ROOT / program.source).exists()
        name = f"`{program.name}`" if built else f"`{program.name}` *(to come)*"
        uses = "everything" if "*" in program.uses else ", ".join(program.uses)
        table.append(f"| {name} | {uses} | {', '.join(program.external)} |")
    return "\n".join(table)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    text = DOCUMENT.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    drawn = f"{before}{BEGIN}\n{drawing(Layers.load(ROOT))}\n{END}{after}"
    if options.check:
        if drawn != text:
            print("docs/architecture.md differs from layers.toml; run tools/draw_layers.py", file=sys.stderr)
            return 1
        return 0
    DOCUMENT.write_text(drawn, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
