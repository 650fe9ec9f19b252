"""Writes the front's types: for each public module of the package, one with the same names. From it type checkers and editors
know that `zeus.X` is `zeus_cpp.X`. It is never executed: zeus_cpp/_front.py finds the modules themselves.

  write_types.py PACKAGE FRONT     zeus_cpp's folder, and the folder of `zeus` to write into
"""

import ast
import pathlib
import sys


def names(body: list) -> list:
    """The public names that a module defines at its top level, including the branches there."""
    found = []
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.append(node.name)
        elif isinstance(node, ast.Assign):
            found += [target.id for target in node.targets if isinstance(target, ast.Name)]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.append(node.target.id)
        elif isinstance(node, (ast.If, ast.Try)):
            found += names(node.body) + names(node.orelse)
    return sorted({name for name in found if not name.startswith("_")})


def same_names(module: str, source: str) -> str:
    # The star import gives what __all__ lists; without __all__, it also gives imported names.
    lines = [f"# For type checkers: importing this gives {module} itself.", f"from {module} import *"]
    lines += [f"from {module} import {name} as {name}" for name in names(ast.parse(source).body)]
    return "\n".join(lines) + "\n"


def main() -> None:
    package, front = (pathlib.Path(word) for word in sys.argv[1:3])
    stale = {*front.rglob("*.py*")} - {front / "__init__.py"}
    for source in sorted(package.rglob("*.py")):
        path = source.relative_to(package)
        parts = path.with_suffix("").parts
        own = parts[:-1] if parts[-1] == "__init__" else parts
        if not own or own[0] == "front" or any(part.startswith("_") for part in own):
            continue
        target = front / path
        target.parent.mkdir(parents=True, exist_ok=True)
        text = same_names(".".join(["zeus_cpp", *own]), source.read_text(encoding="utf-8"))
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            target.write_text(text, encoding="utf-8")
        stale.discard(target)
    for file in stale:
        file.unlink()


if __name__ == "__main__":
    main()
