"""Prints the interface of the Python package: every public name of every module, with its signature and fields.

  interface.py            what tests/golden/python/interface.txt holds
"""

import dataclasses
import enum
import importlib
import inspect
import pkgutil
import re

import zeus

# Names that a module imports from other packages are not its interface; names from a sister module are.
LEFT_OUT = {"zeus._native", "zeus.integrations.huggingface", "zeus.integrations.lightning", "zeus.integrations.pipelining",
            "zeus.monitor.__main__", "zeus.utils.pydantic_v1"}


def modules() -> list[str]:
    """All modules without an underscore in their names that can be imported without optional packages."""
    names = ["zeus"]
    for found in pkgutil.walk_packages(zeus.__path__, "zeus."):
        if found.name not in LEFT_OUT and not any(part.startswith("_") for part in found.name.split(".")):
            names.append(found.name)
    return sorted(names)


def signature(function) -> str:
    """Annotations are strings, whose quotes have no meaning."""
    return re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(inspect.signature(function)))


def describe_class(name: str, kind: type) -> list[str]:
    bases = ", ".join(base.__name__ for base in kind.__bases__ if base is not object)
    lines = [f"  class {name}({bases})" if bases else f"  class {name}"]
    if issubclass(kind, enum.Enum):
        return lines + [f"    {member.name} = {member.value!r}" for member in kind]
    if issubclass(kind, BaseException):
        return lines
    if dataclasses.is_dataclass(kind):
        for field in dataclasses.fields(kind):
            default = "" if field.default is dataclasses.MISSING else f" = {field.default!r}"
            lines.append(f"    {field.name}: {field.type}{default}")
    elif "__init__" in vars(kind):
        lines.append(f"    __init__{signature(kind.__init__)}")
    for attribute, value in sorted(vars(kind).items()):
        if attribute.startswith("_"):
            continue
        if isinstance(value, (staticmethod, classmethod)):
            lines.append(f"    {attribute}{signature(value.__func__)}")
        elif inspect.isfunction(value):
            lines.append(f"    {attribute}{signature(value)}")
        elif isinstance(value, property) or type(value).__name__ == "cached_property":
            getter = value.fget if isinstance(value, property) else value.func
            lines.append(f"    {attribute}: {getter.__annotations__.get('return', '?')}")
    return lines


def describe(module_name: str) -> list[str]:
    module = importlib.import_module(module_name)
    lines = [module_name]
    for name, value in sorted(vars(module).items()):
        if name.startswith("_") or inspect.ismodule(value):
            continue
        home = getattr(value, "__module__", "") or ""
        if not home.startswith("zeus"):
            continue
        home = home.replace("zeus_cpp", "zeus", 1)
        if home != module_name:
            if name in getattr(module, "__all__", ()):
                lines.append(f"  {name} of {home}")
        elif isinstance(value, type):
            lines += describe_class(name, value)
        elif inspect.isfunction(inspect.unwrap(value)):
            lines.append(f"  {name}{signature(value)}")
    return lines


if __name__ == "__main__":
    for each in modules():
        print("\n".join(describe(each)))
