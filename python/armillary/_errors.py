"""Errors that the Python side raises itself, in the core's own classes."""

from typing import TypeVar

from armillary import _core

E = TypeVar("E", bound=_core.Error)


def user_error(message: str, where: str = "") -> _core.UserError:
    """A UserError with the fields the core's own have; `where` is a place such as "model.mlir:3:7"."""
    return _fill(_core.UserError(f"{where}: {message}" if where else message), "user", where, message)


def unsupported_error(message: str, where: str = "") -> _core.UnsupportedError:
    """An UnsupportedError: the input is right, but we cannot do it."""
    text = f"{where}: {message}" if where else message
    return _fill(_core.UnsupportedError(text), "unsupported", where, message)


def _fill(error: E, kind: str, where: str, message: str) -> E:
    error.kind, error.where, error.message = kind, where, message
    return error
