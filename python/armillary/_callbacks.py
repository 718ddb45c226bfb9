"""Python functions that running programs call, by a number that stands in the program."""

import contextlib
import secrets
import threading
import traceback
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from armillary import _core
from armillary._errors import user_error

_lock = threading.Lock()
_functions: "weakref.WeakValueDictionary[int, Callback]" = weakref.WeakValueDictionary()
# A program from the compilation cache of another process must not find a function of this one.
_next = secrets.randbits(60)
_lowered = threading.local()


class Callback:
    """A function with its number, under which it is found as long as somebody holds this."""

    def __init__(self, function: Callable[..., Sequence[Any]], keeps_error: bool = False):
        global _next
        self._function = function
        self._keeps_error = keeps_error
        self.error: tuple[str, BaseException] | None = None  # what the run says of it, and itself
        with _lock:
            _next += 1
            self.index = _next
            _functions[self.index] = self

    def run(self, *arguments: Any) -> tuple[str | None, Sequence[Any]]:
        """(None, results), or (what went wrong, nothing)."""
        try:
            return None, tuple(self._function(*arguments))
        except BaseException as error:
            text = f"error in a callback: {traceback.format_exc()}"
            if self._keeps_error:
                self.error = text, error
            return text, ()


@contextlib.contextmanager
def numbered_in(lowered: Any) -> Iterator[list[Callback]]:
    """What JAX has lowered for another platform numbers its functions by their places in a list of its own."""
    lowering = getattr(lowered, "_lowering", None)
    listed = (getattr(lowering, "compile_args", None) or {}).get("host_callbacks", ())
    _lowered.functions = [Callback(function, keeps_error=True) for function in listed]
    try:
        yield _lowered.functions
    finally:
        _lowered.functions = []


class Calling:
    """A compiled program that calls Python functions: what one of them raises is the cause of the error of the run."""

    def __init__(self, core: Any, callbacks: list[Callback]):
        self._core = core
        self._callbacks = callbacks

    def __getattr__(self, name: str) -> Any:
        return getattr(self._core, name)

    def execute(self, arrays: list[np.ndarray], donated: list[bool]) -> list[Any]:
        try:
            return self._core.execute(arrays, donated)
        except _core.UserError as error:
            for callback in self._callbacks:
                if callback.error is None or callback.error[0] not in str(error):
                    continue
                cause, callback.error = callback.error[1], None
                if not isinstance(cause, Exception):  # an interrupt or an exit is no error of the program
                    raise cause from None
                raise error from cause
            raise


def find(index: int) -> Callback:
    """Asked once, by the program that is compiled."""
    listed = getattr(_lowered, "functions", [])
    callback = listed[index] if index < len(listed) else _functions.get(index)
    if callback is None:
        raise user_error(
            "a Python function that this process does not hold: the program comes from a file or another process"
        )
    return callback


def inspect_sharding(config: str, sharding: bytes) -> str | None:
    """Tells the function with this number how its value is cut; what went wrong, if anything did."""
    from jaxlib import xla_client

    message = xla_client.OpSharding()
    message.ParseFromString(sharding)
    error, _ = find(int(config)).run(xla_client.HloSharding.from_proto(message))
    return error


class Buffer:
    """An argument or a result of jax.experimental.buffer_callback, in the host's memory."""

    def __init__(self, array: Any, writeable: bool):
        array.flags.writeable = writeable
        self._array = array
        self.shape, self.dtype, self.ndim, self.writeable = array.shape, array.dtype, array.ndim, writeable

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self._array if dtype is None and not copy else np.array(self._array, dtype)

    def __dlpack__(self, **keywords: Any) -> Any:
        return self._array.__dlpack__(**keywords)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


class _Execution:
    """What a function is told of the run that calls it."""

    def __init__(self, stage: Any):
        self.stage = stage

    @property
    def stream(self) -> int:
        import jax

        raise jax.errors.JaxRuntimeError(
            "UNIMPLEMENTED: XLA FFI GPU context is not available on this platform"
        )


def fill_buffers(
    function: Callable[..., Any],
    in_tree: Any,
    out_tree: Any,
    results: Sequence[Any],
    aliases: dict[int, int],
) -> Callable[..., Sequence[Any]]:
    """`function(context, out, *arguments)`, which fills `out`, as one that returns results. Aliases: input to output."""
    import jax
    from jax.experimental.buffer_callback import ExecutionStage

    of_output = {o: i for i, o in aliases.items()}

    def run(*arguments: Any) -> Sequence[Any]:
        filled = [
            np.array(arguments[of_output[k]]) if k in of_output else np.zeros(aval.shape, aval.dtype)
            for k, aval in enumerate(results)
        ]
        given = [filled[aliases[i]] if i in aliases else np.asarray(a) for i, a in enumerate(arguments)]
        outputs = jax.tree_util.tree_unflatten(out_tree, [Buffer(a, True) for a in filled])
        inputs, keywords = jax.tree_util.tree_unflatten(in_tree, [Buffer(a.view(), False) for a in given])
        if function(_Execution(ExecutionStage.EXECUTE), outputs, *inputs, **keywords) is not None:
            raise ValueError("a function of buffer_callback fills its results and returns nothing")
        return filled

    return run


def find_ffi_handler(target: str, typed: bool) -> dict[str, Any] | None:
    """Capsules by stage, of a handler that JAX's users registered for the cpu; None when there is none.

    Untyped ones, of the older interface, have one stage.
    """
    from jaxlib import xla_client

    # jaxlib keeps what is registered before its own cpu client exists
    for name, function, api_version, *_ in getattr(xla_client, "_custom_callback", {}).get("Host", []):
        if name == target and api_version == int(typed):
            return function if isinstance(function, dict) else {"execute": function}
    found = xla_client.custom_call_targets("Host").get(target)
    return found if found is None or isinstance(found, dict) else {"execute": found}
