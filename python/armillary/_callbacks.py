"""Python functions that running programs call, by a number that stands in the program."""

import secrets
import threading
import traceback
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from armillary._errors import user_error

_lock = threading.Lock()
_functions: "weakref.WeakValueDictionary[int, Callback]" = weakref.WeakValueDictionary()
# A program from the compilation cache of another process must not find a function of this one.
_next = secrets.randbits(60)


class Callback:
    """A function with its number, under which it is found as long as somebody holds this."""

    def __init__(self, function: Callable[..., Sequence[Any]]):
        global _next
        self._function = function
        with _lock:
            _next += 1
            self.index = _next
            _functions[self.index] = self

    def run(self, *arguments: Any) -> tuple[str | None, Sequence[Any]]:
        """(None, results), or (what went wrong, nothing)."""
        try:
            return None, tuple(self._function(*arguments))
        except BaseException:
            return f"error in a callback: {traceback.format_exc()}", ()


def find(index: int) -> Callback:
    """Asked once, by the program that is compiled."""
    callback = _functions.get(index)
    if callback is None:
        raise user_error(
            "a Python function that this process does not hold; callbacks work under JAX_PLATFORMS=armillary"
        )
    return callback


def inspect_sharding(config: str, sharding: bytes) -> str | None:
    """Tells the function with this number how its value is cut; what went wrong, if anything did."""
    from jaxlib import xla_client

    message = xla_client.OpSharding()
    message.ParseFromString(sharding)
    error, _ = find(int(config)).run(xla_client.HloSharding.from_proto(message))
    return error


def find_ffi_handler(target: str) -> dict[str, Any] | None:
    """Capsules by stage, of a handler that JAX's users registered for the cpu; None when there is none."""
    from jaxlib import xla_client

    found = xla_client.custom_call_targets("Host").get(target)
    if found is None:  # jaxlib keeps what is registered before its own cpu client exists
        waiting = getattr(xla_client, "_custom_callback", {}).get("Host", [])
        found = next(
            (fn for name, fn, api_version, *_ in waiting if name == target and api_version == 1), None
        )
    return found if found is None or isinstance(found, dict) else {"execute": found}
