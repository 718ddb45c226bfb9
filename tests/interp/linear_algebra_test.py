"""JAX's linear algebra, which reaches us as LAPACK custom calls, against XLA:CPU with LAPACK behind it."""

import jax.numpy as jnp
import numpy as np
import pytest
from against_xla import assert_same
from jax import lax
from jax._src.lax import linalg

DTYPES = {"float32": 2e-3, "complex128": 1e-9}
pytestmark = pytest.mark.parametrize("dtype", DTYPES)


def adjoint(x):
    return jnp.swapaxes(x.conj(), -1, -2)


def normal(dtype, *shape):
    rng = np.random.default_rng(7)
    x = rng.normal(size=shape)
    if dtype.startswith("complex"):
        x = x + 1j * rng.normal(size=shape)
    return jnp.asarray(x.astype(dtype))


def positive(dtype, *shape):
    x = normal(dtype, *shape)
    return x @ adjoint(x) + 5 * jnp.eye(shape[-1], dtype=dtype)


def test_cholesky_and_nan_where_there_is_none(dtype):
    assert_same(jnp.linalg.cholesky, positive(dtype, 2, 6, 6), tolerance=DTYPES[dtype])
    assert_same(jnp.linalg.cholesky, -positive(dtype, 6, 6), tolerance=DTYPES[dtype])


def test_lu_and_what_is_built_on_it(dtype):
    assert_same(lax.linalg.lu, normal(dtype, 2, 6, 5), tolerance=DTYPES[dtype])
    assert_same(jnp.linalg.solve, normal(dtype, 3, 6, 6), normal(dtype, 3, 6, 2), tolerance=DTYPES[dtype])
    assert_same(jnp.linalg.det, normal(dtype, 3, 6, 6), tolerance=DTYPES[dtype])


@pytest.mark.parametrize("shape", [(2, 6, 4), (4, 6), (5, 5)])
@pytest.mark.parametrize("mode", ["reduced", "complete"])
def test_qr(dtype, shape, mode):
    assert_same(lambda a: jnp.linalg.qr(a, mode=mode), normal(dtype, *shape), tolerance=DTYPES[dtype])


def test_products_with_q_and_pivoted_qr(dtype):
    a, taus = linalg.geqrf(normal(dtype, 6, 4))
    for left in (True, False):
        for transpose in (True, False):
            c = normal(dtype, 6, 6)
            assert_same(
                lambda a, t, c, left=left, transpose=transpose: linalg.ormqr(a, t, c, left=left, transpose=transpose),
                a, taus, c, tolerance=DTYPES[dtype])  # fmt: skip
    assert_same(
        lambda a: linalg.geqp3(a, jnp.zeros(4, jnp.int32)), normal(dtype, 6, 4), tolerance=DTYPES[dtype]
    )


@pytest.mark.parametrize("left_side", [True, False])
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("transposition", ["none", "transpose", "adjoint"])
def test_triangular_solve(dtype, left_side, lower, transposition):
    assert_same(
        lambda a, b: lax.linalg.triangular_solve(
            a, b, left_side=left_side, lower=lower, unit_diagonal=lower,
            transpose_a=transposition != "none", conjugate_a=transposition == "adjoint"),
        positive(dtype, 4, 4), normal(dtype, 4, 4), tolerance=DTYPES[dtype])  # fmt: skip


def test_eigh_up_to_the_phases_of_the_vectors(dtype):
    def function(a):
        w, v = jnp.linalg.eigh(a)
        return w, (v * w[..., None, :]) @ adjoint(v), adjoint(v) @ v

    assert_same(function, positive(dtype, 2, 7, 7), tolerance=DTYPES[dtype])


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4)])
@pytest.mark.parametrize("full", [True, False])
def test_svd_up_to_the_phases_of_the_vectors(dtype, shape, full):
    def function(a):
        u, s, vh = jnp.linalg.svd(a, full_matrices=full)
        k = s.size
        return s, (u[:, :k] * s) @ vh[:k], adjoint(u) @ u, vh @ adjoint(vh)

    assert_same(function, normal(dtype, *shape), tolerance=DTYPES[dtype])
    assert_same(lambda a: jnp.linalg.svd(a, compute_uv=False), normal(dtype, *shape), tolerance=DTYPES[dtype])


def test_eig_and_schur_give_the_matrix_back(dtype):
    def by_eigenvectors(a):
        w, left, right = lax.linalg.eig(a)
        # + 1: what is zero up to rounding errors has no relative error.
        return right @ jnp.diag(w) @ jnp.linalg.inv(right), jnp.diag(w) @ adjoint(left) - adjoint(
            left
        ) @ a + 1

    def by_schur(a):
        t, z = linalg.schur(a)
        return z @ t @ adjoint(z), adjoint(z) @ z, jnp.tril(t, -2) + 1

    assert_same(by_eigenvectors, normal(dtype, 8, 8), tolerance=10 * DTYPES[dtype])
    assert_same(by_schur, normal(dtype, 8, 8), tolerance=DTYPES[dtype])


def test_reductions_to_hessenberg_and_tridiagonal_form(dtype):
    assert_same(linalg.hessenberg, normal(dtype, 6, 6), tolerance=DTYPES[dtype])
    assert_same(linalg.tridiagonal, positive(dtype, 6, 6), tolerance=DTYPES[dtype])


def test_tridiagonal_solve_with_pivots(dtype):
    bands = normal(dtype, 3, 6) * jnp.asarray([[1], [0.1], [1]], dtype)
    assert_same(
        lambda x, b: linalg.tridiagonal_solve(x[0], x[1], x[2], b),
        bands,
        normal(dtype, 6, 2),
        tolerance=DTYPES[dtype],
    )


def test_fft_of_odd_lengths(dtype):
    if dtype.startswith("complex"):
        assert_same(jnp.fft.fft2, normal(dtype, 6, 7), tolerance=1e-5)
        assert_same(lambda x: jnp.fft.irfft(x, n=15), normal(dtype, 3, 8), tolerance=1e-5)
    else:
        assert_same(jnp.fft.rfftn, normal(dtype, 3, 5, 6), tolerance=1e-5)
