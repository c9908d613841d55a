"""A registry of named things, filled by scanning a package: adding one file adds one item."""

from __future__ import annotations

import importlib
import pkgutil
import threading
from collections.abc import Iterator
from types import ModuleType
from typing import Generic, TypeVar

from mage_envs.errors import UnknownNameError

T = TypeVar("T")


class Registry(Generic[T]):
    """Names to items of one kind. Lookups of unknown names list near matches.

    >>> colours = Registry[str]("colour")
    >>> colours.register("red", "#f00")
    '#f00'
    >>> colours.get("red")
    '#f00'
    >>> colours.get("rad")
    Traceback (most recent call last):
    mage_envs.errors.UnknownNameError: unknown colour 'rad'. Did you mean 'red'?
    """

    def __init__(self, kind: str, package: str | None = None) -> None:
        """Makes an empty registry.

        Args:
            kind: What an item is called in messages: ``"opponent"``.
            package: The package whose modules register items when they are imported. It is scanned
                at the first lookup, so that modules of the package may import this registry.
        """
        self.kind = kind
        self._package = package
        self._scanned = package is None
        self._lock = threading.RLock()
        self._items: dict[str, T] = {}

    def register(self, name: str, item: T) -> T:
        """Adds an item and returns it.

        Raises:
            ValueError: The name is taken by another item.
        """
        if self._items.setdefault(name, item) is not item:
            raise ValueError(f"{self.kind} {name!r} is registered twice: choose another name")
        return item

    def get(self, name: str) -> T:
        """Returns the item with this name.

        Raises:
            UnknownNameError: There is none; the message lists near matches.
        """
        self._scan()
        try:
            return self._items[name]
        except KeyError:
            raise UnknownNameError(self.kind, name, self._items) from None

    def __contains__(self, name: object) -> bool:
        """Whether the name is registered."""
        self._scan()
        return name in self._items

    def __iter__(self) -> Iterator[str]:
        """Iterates over the names, sorted."""
        self._scan()
        return iter(sorted(self._items))

    def _scan(self) -> None:
        if self._scanned:
            return
        with self._lock:  # Another thread must not find the registry half filled.
            package, self._package = self._package, None  # A module may look names up while it is imported.
            if package is None:
                return
            try:
                import_modules(importlib.import_module(package))
            except BaseException:
                self._package = package
                raise
            self._scanned = True


def import_modules(package: ModuleType) -> None:
    """Imports every module directly inside a package, in alphabetical order."""
    for module in sorted(pkgutil.iter_modules(package.__path__), key=lambda found: found.name):
        importlib.import_module(f"{package.__name__}.{module.name}")
