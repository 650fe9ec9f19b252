"""Checked records: values made from keywords, sent as JSON, with the methods that scripts know from pydantic 1.

    class Trial(Record):
        job_id: str = required(text)
        batch_size: int = required(whole(above=0))
        note: Optional[str] = optional(maybe(text), None)

Fields are checked and converted when a record is made; a later assignment is not checked. Unknown fields are ignored. An
invalid record is a ValidationError, which is a ValueError and names every field that is wrong.
"""

from __future__ import annotations

import copy as copying
import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Callable, TypeVar

Check = Callable[[Any], Any]
R = TypeVar("R", bound="Record")
_MISSING = object()


class ValidationError(ValueError):
    """An invalid record; `errors()` lists what is wrong, field by field."""

    def __init__(self, record: str, problems: list[tuple[str, str]]) -> None:
        self.record = record
        self._problems = problems
        lines = "".join(f"\n  {name}: {what}" for name, what in problems)
        super().__init__(f"{record}: {len(problems)} field{'s are' if len(problems) > 1 else ' is'} wrong{lines}")

    def errors(self) -> list[dict[str, Any]]:
        return [{"loc": (name,), "msg": what, "type": "value_error"} for name, what in self._problems]

    def __reduce__(self) -> Any:
        return type(self), (self.record, self._problems)


class _Field:
    def __init__(self, check: Check, default: Any) -> None:
        self.check = check
        self.default = default


def required(check: Check) -> Any:
    """A field that must be given."""
    return _Field(check, _MISSING)


def optional(check: Check, default: Any) -> Any:
    """A field that is `default` if it is not given."""
    return _Field(check, default)


def text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    raise ValueError(f"must be a string, not {value!r}")


def name(value: Any) -> str:
    if not text(value):
        raise ValueError("must not be empty")
    return text(value)


def truth(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    if value in (0, 1):
        return bool(value)
    raise ValueError(f"must be true or false, not {value!r}")


def number(above: float | None = None, least: float | None = None, most: float | None = None) -> Check:
    def check(value: Any) -> float:
        try:
            converted = float(value)
        except (TypeError, ValueError):
            raise ValueError(f"must be a number, not {value!r}") from None
        if not math.isfinite(converted):
            raise ValueError(f"must be finite, not {converted}")
        _within(converted, above, least, most)
        return converted

    return check


def whole(above: int | None = None, least: int | None = None) -> Check:
    def check(value: Any) -> int:
        try:
            converted = int(value)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(f"must be a whole number, not {value!r}") from None
        if not isinstance(value, str) and converted != value:
            raise ValueError(f"must be a whole number, not {value!r}")
        _within(converted, above, least, None)
        return converted

    return check


def _within(value: float, above: float | None, least: float | None, most: float | None) -> None:
    if above is not None and not value > above:
        raise ValueError(f"must be greater than {above}, not {value}")
    if least is not None and value < least:
        raise ValueError(f"must be {least} or more, not {value}")
    if most is not None and value > most:
        raise ValueError(f"must be {most} or less, not {value}")


def maybe(check: Check) -> Check:
    return lambda value: None if value is None else check(value)


def several(check: Check) -> Check:
    def check_all(value: Any) -> list[Any]:
        if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
            raise ValueError(f"must be a list, not {value!r}")
        return [check(each) for each in value]

    return check_all


def mapping(check_key: Check, check_value: Check) -> Check:
    def check_all(value: Any) -> dict[Any, Any]:
        if not isinstance(value, Mapping):
            raise ValueError(f"must be a mapping, not {value!r}")
        return {check_key(key): check_value(each) for key, each in value.items()}

    return check_all


def pair(first: Check, second: Check) -> Check:
    def check_both(value: Any) -> tuple[Any, Any]:
        if isinstance(value, str) or not isinstance(value, (list, tuple)) or len(value) != 2:
            raise ValueError(f"must be a pair, not {value!r}")
        return first(value[0]), second(value[1])

    return check_both


class _SignatureOfFields:
    """The parameters of a record, for `help()` and `inspect.signature()`: keywords, with defaults if they are plain."""

    def __get__(self, record: Record | None, kind: type[Record]) -> Any:
        from inspect import Parameter, Signature

        return Signature([
            Parameter(key, Parameter.KEYWORD_ONLY, default=Parameter.empty if each.default is _MISSING else each.default)
            for key, each in kind._fields.items()
        ])


class Record:
    """A checked record; `check_together` checks rules between several fields."""

    _fields: dict[str, _Field] = {}
    __signature__ = _SignatureOfFields()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        inherited = [base._fields for base in reversed(cls.__mro__[1:]) if issubclass(base, Record)]
        cls._fields = {key: each for fields in inherited for key, each in fields.items()}
        cls._fields.update({key: each for key, each in vars(cls).items() if isinstance(each, _Field)})
        for key in cls._fields:
            if key in vars(cls):
                delattr(cls, key)

    if TYPE_CHECKING:

        def __init__(self, **values: Any) -> None: ...

    else:

        def __init__(self, **values: Any) -> None:
            problems: list[tuple[str, str]] = []
            for key, field in self._fields.items():
                given = values.get(key, _MISSING)
                try:
                    if given is not _MISSING:
                        setattr(self, key, field.check(given))
                    elif field.default is not _MISSING:
                        setattr(self, key, copying.copy(field.default))
                    else:
                        problems.append((key, "is missing"))
                except ValueError as problem:
                    problems.append((key, str(problem)))
            if not problems:
                problems = list(self.check_together())
            if problems:
                raise ValidationError(type(self).__name__, problems)

    def check_together(self) -> Iterable[tuple[str, str]]:
        """What is wrong although each field is valid by itself: (field, what) pairs."""
        return ()

    @classmethod
    def parse_obj(cls: type[R], values: Any) -> R:
        if isinstance(values, Record):
            values = values.dict()
        if not isinstance(values, Mapping):
            raise ValidationError(cls.__name__, [("__root__", f"must be an object, not {values!r}")])
        return cls(**{str(key): value for key, value in values.items()})

    @classmethod
    def parse_raw(cls: type[R], content: Any) -> R:
        try:
            values = json.loads(content)
        except ValueError as problem:
            raise ValidationError(cls.__name__, [("__root__", f"is not JSON: {problem}")]) from None
        return cls.parse_obj(values)

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return ((key, getattr(self, key)) for key in self._fields)

    def dict(self, *, include: Collection[str] | None = None, exclude: Collection[str] = (), by_alias: bool = False,
             exclude_none: bool = False) -> dict[str, Any]:
        """The fields, all or those named. There are no aliases."""
        return {key: copying.deepcopy(value) for key, value in self
                if (include is None or key in include) and key not in (exclude or ()) and not (exclude_none and value is None)}

    def json(self, *, include: Collection[str] | None = None, exclude: Collection[str] = (), by_alias: bool = False,
             exclude_none: bool = False, **options: Any) -> str:
        """The same as JSON; the other options are those of json.dumps."""
        return json.dumps(self.dict(include=include, exclude=exclude, exclude_none=exclude_none), **options)

    def copy(self: R, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> R:
        """A copy with the values of `update`, which are not checked."""
        twin = copying.deepcopy(self) if deep else copying.copy(self)
        twin.__dict__.update(update or {})
        return twin

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Record) and type(self)._fields.keys() == type(other)._fields.keys():
            return self.dict() == other.dict()
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(f"{key}={getattr(self, key)!r}" for key in self._fields)
        return f"{type(self).__name__}({shown})"

    def __str__(self) -> str:
        return " ".join(f"{key}={getattr(self, key)!r}" for key in self._fields)
