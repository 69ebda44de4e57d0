"""lazy: an attribute that is computed when it is first asked for, and kept.

What `functools.cached_property` is from Python 3.12 on. In 3.11 that takes a lock at each first
use, which costs more than most of what is computed here for every row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class lazy(Generic[T]):  # noqa: N801 used as a decorator, like property
    """Decorate a method without parameters: its value becomes an attribute at first use."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> lazy[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object, owner: type) -> T | lazy[T]:
        """Compute the value and put it where the next look finds it first."""
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._compute(instance)
        return value
