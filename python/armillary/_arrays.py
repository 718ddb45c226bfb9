"""Array-likes in, arrays and nested tuples out."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from armillary import _core
from armillary._errors import user_error


def as_array(value: Any, dtype: np.dtype | None = None) -> np.ndarray:
    """A NumPy array of any array-like: NumPy, JAX (typed keys too), DLPack, scalars; a view wherever that is possible.

    Only bare Python numbers take on `dtype` if it is given and differs; everything else keeps its own.
    """
    if isinstance(value, np.ma.MaskedArray):
        raise user_error("a masked array is no argument: a program has no masks; pass array.filled(value)")
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, bool | int | float | complex):
        return np.asarray(value, dtype or _default_dtype(value))
    if not hasattr(value, "__array__") and hasattr(value, "__dlpack__"):
        return np.from_dlpack(value)
    if hasattr(value, "dtype") and not isinstance(value.dtype, np.dtype):
        value = _key_data(value)
    return np.asarray(value)


def _default_dtype(value: complex) -> np.dtype:
    """What JAX makes of a Python number."""
    if isinstance(value, bool):
        return np.dtype(np.bool_)
    if isinstance(value, int):
        return np.dtype(np.int32 if -(1 << 31) <= value < 1 << 31 else np.int64)
    return np.dtype(np.float32 if isinstance(value, float) else np.complex64)


def _key_data(value: Any) -> Any:
    import jax

    if jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key):
        return jax.random.key_data(value)
    return value


def flatten(value: Any) -> Iterator[Any]:
    """The leaves of nested tuples and lists."""
    if isinstance(value, tuple | list):
        for element in value:
            yield from flatten(element)
    else:
        yield value


def nest(shape: _core.Shape, leaves: Iterator[Any]) -> Any:
    """The leaves of a result in tuples, as its shape says."""
    if not shape.is_tuple:
        return next(leaves)
    return tuple(nest(element, leaves) for element in shape.elements)


def arrays_for(shapes: list[_core.Shape], arguments: tuple[Any, ...], name: str) -> list[np.ndarray]:
    """One array per leaf of the parameters; a Python number takes on its parameter's dtype."""
    leaves = [leaf for shape in shapes for leaf in shape.leaves if leaf.is_array]
    values = [value for value in flatten(arguments) if value is not None]
    if len(values) != len(leaves):
        raise user_error(f"{name} takes {len(leaves)} arrays, not {len(values)}")
    return [as_array(value, leaf.dtype) for value, leaf in zip(values, leaves, strict=True)]
