"""Runs a JAX function in our interpreter and on XLA:CPU, and compares."""

import armillary as arm
import jax
import numpy as np

jax.config.update("jax_enable_x64", True)


def both(function, *arguments):
    """The flat results of XLA:CPU and of the interpreter."""
    jitted = jax.jit(function, keep_unused=True)
    want = [np.asarray(x) for x in jax.tree.leaves(jitted(*arguments))]
    got = arm.evaluate(jitted.lower(*arguments), *jax.tree.leaves(arguments))
    return want, [np.asarray(x) for x in jax.tree.leaves(got)]


def assert_same(function, *arguments, tolerance=1e-5):
    """Integers exactly; floats within `tolerance` of the array's largest number, NaNs and infinities in the same places."""
    want, got = both(function, *arguments)
    assert len(want) == len(got)
    for w, g in zip(want, got, strict=True):
        assert w.shape == g.shape
        assert w.dtype == g.dtype
        if w.dtype.kind in "iub":
            np.testing.assert_array_equal(g, w)
            continue
        wide = np.complex128 if w.dtype.kind == "c" else np.float64
        w, g = w.astype(wide), g.astype(wide)
        finite = np.abs(w[np.isfinite(w)])
        scale = max(finite.max(), 1e-30) if finite.size else 1.0
        np.testing.assert_allclose(g, w, rtol=tolerance, atol=tolerance * scale, equal_nan=True)
