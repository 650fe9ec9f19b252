"""Walks the interface of the package that this interpreter imports as `zeus` and prints it as JSON: the names of every
public module; the members and bases of every class, and the attributes that its methods assign to `self` (read from the
source); and the parameters of every callable.

  interface_walk.py [MODULE ...]     except for these modules and their submodules
"""

import ast
import enum
import functools
import importlib
import inspect
import json
import logging
import pathlib
import pkgutil
import sys
import types

import zeus


def is_public(name: str) -> bool:
    return not name.startswith("_") or name == "__version__"


def is_ours(module: object) -> bool:
    return isinstance(module, str) and module.partition(".")[0] in ("zeus", "zeus_cpp") and not module.endswith("._native")


def plain(value: object) -> object:
    """A value as JSON, or a dictionary with its kind if it cannot be compared between packages."""
    if isinstance(value, enum.Enum):
        return {"member": value.name}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, pathlib.PurePath):
        return str(value)
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    return {"kind": "other"}


def parameters(function: object) -> object:
    """[name, kind, default] of each; without a third entry if there is no default. None if unknown."""
    try:
        found = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    return [[each.name, each.kind.name] + ([] if each.default is each.empty else [plain(each.default)])
            for each in found.parameters.values()]


@functools.lru_cache(maxsize=None)
def source_tree(file: str) -> ast.Module:
    return ast.parse(pathlib.Path(file).read_text(encoding="utf-8"))


def defined_names(module: types.ModuleType) -> set:
    """The names that the module's own source binds at top level, including in conditions and try blocks, but not imports."""
    names = set()
    waiting = list(source_tree(module.__file__).body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            names.add(node.name)
            continue
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}
        for field in ("body", "orelse", "finalbody", "handlers"):
            waiting += getattr(node, field, [])
    return names


@functools.lru_cache(maxsize=None)
def classes_in(file: str) -> dict:
    return {node.name: node for node in ast.walk(source_tree(file)) if isinstance(node, ast.ClassDef)}


def attributes_of_self(kind: type) -> set:
    """The attributes that this class's own methods assign to `self`."""
    written = classes_in(sys.modules[kind.__module__].__file__).get(kind.__name__)
    return set() if written is None else {
        node.attr for node in ast.walk(written)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name)
        and node.value.id == "self"}


def describe_member(kind: type, name: str) -> dict:
    raw = inspect.getattr_static(kind, name, None)
    if isinstance(raw, property) or type(raw).__name__ == "cached_property":
        return {"is": "property"}
    if isinstance(raw, enum.Enum):
        return {"is": "value", "value": plain(raw.value)}
    if isinstance(raw, (staticmethod, classmethod)):
        return {"is": "callable", "parameters": parameters(getattr(kind, name))}
    if inspect.isroutine(raw):
        return {"is": "callable", "parameters": parameters(raw)}
    return {"is": "value", "value": plain(raw)}


def describe_class(kind: type) -> dict:
    ours = [each for each in kind.__mro__ if is_ours(each.__module__)]
    members, attributes = {}, set()
    for each in ours:
        annotated = set(vars(each).get("__annotations__", {})) | set(getattr(each, "__slots__", ()))
        attributes |= annotated | attributes_of_self(each)
        for name in vars(each):
            if is_public(name) and name not in members:
                members[name] = describe_member(kind, name)
    attributes |= set(getattr(kind, "__fields__", ())) | set(getattr(kind, "__dataclass_fields__", ()))
    # A field with a default is also a value of the class: it is counted once, as a field.
    members = {name: facts for name, facts in members.items() if name not in attributes or facts["is"] != "value"}
    return {
        "is": "class",
        "bases": [each.__name__ for each in kind.__mro__[1:] if is_public(each.__name__)
                  and (is_ours(each.__module__) or each.__module__ == "builtins") and each is not object],
        "exception": issubclass(kind, BaseException),
        "abstract": sorted(getattr(kind, "__abstractmethods__", ())),
        "parameters": parameters(kind),
        "members": members,
        "attributes": sorted(name for name in attributes if is_public(name) and name not in members),
        # Other attributes of an object: those inherited from elsewhere.
        "answers": sorted(name for name in dir(kind) if is_public(name)),
    }


def describe_name(value: object) -> dict:
    if isinstance(value, type):
        return describe_class(value)
    if inspect.isroutine(value) or isinstance(value, functools._lru_cache_wrapper):
        return {"is": "callable", "parameters": parameters(value)}
    return {"is": "value", "value": plain(value)}


def typing_names(module: types.ModuleType) -> set:
    return {name for name, value in vars(module).items()
            if type(value).__module__ in ("typing", "types") and not inspect.isroutine(value)}


class Absent(types.ModuleType):
    """Takes the place of a module that is not installed: whatever is imported from it is a class."""

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


def imported(name: str) -> types.ModuleType:
    while True:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as missing:
            if missing.name is None or is_ours(missing.name):
                raise
            sys.modules[missing.name] = Absent(missing.name)


def describe_module(name: str) -> dict:
    module = imported(name)
    defined = defined_names(module)
    is_package = hasattr(module, "__path__")
    names = {}
    for each in sorted({*dir(module), *getattr(module, "__all__", ())}):
        if not is_public(each):
            continue
        try:
            value = getattr(module, each)
        except ImportError:  # a name that needs a framework
            continue
        # Loggers are found by name, and the types' internal names are not part of the interface.
        if isinstance(value, (types.ModuleType, logging.Logger)) or each in typing_names(module):
            continue
        described = describe_name(value)
        home = getattr(value, "__module__", None)
        # A package shows its modules' names; a module's own imports are private.
        described["own"] = each in defined or each in getattr(module, "__all__", ()) or (is_package and is_ours(home))
        described["home"] = home if is_ours(home) and home != name else None
        names[each] = described
    return names


def main() -> None:
    left_out = tuple(sys.argv[1:])
    modules, failures = {}, {}
    names = ["zeus", *(found.name for found in pkgutil.walk_packages(zeus.__path__, "zeus.", onerror=lambda name: None))]
    for name in names:
        if any(name == each or name.startswith(each + ".") for each in left_out):
            continue
        if not all(is_public(part) or part == "__main__" for part in name.split(".")):
            continue
        try:
            modules[name] = describe_module(name)
        except Exception as error:  # noqa: BLE001
            failures[name] = f"{type(error).__name__}: {error}"
    print(json.dumps({"modules": modules, "failures": failures}))


if __name__ == "__main__":
    main()
