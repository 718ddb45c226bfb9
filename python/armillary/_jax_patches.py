"""What JAX hard-codes for the platforms it knows, made true for ours as well.

JAX treats a platform by its name in a few private tables. Ours compute as a cpu does, so they take part in them as "cpu"
does. Each patch stands alone and is left out when JAX has changed under it: what it enables is then missing, and
tests/jax/patches_test.py says which.
"""

from collections.abc import Callable

Platforms = tuple[str, ...]
Patch = Callable[[Platforms], None]
patches: list[Patch] = []
applied: dict[str, Exception | None] = {}  # by name; what went wrong with it


def patch(function: Patch) -> Patch:
    """A function that is given our platforms' names when JAX looks for its own."""
    patches.append(function)
    return function


def apply(platforms: Platforms) -> None:
    """Makes all patches, once, for all of our platforms."""
    from armillary import _jax_callbacks, _jax_platform, _jax_programs  # noqa: F401  they bring the patches

    for change in patches:
        name = change.__name__.strip("_")
        if name in applied:
            continue
        try:
            change(platforms)
            applied[name] = None
        except Exception as error:  # JAX's private parts may change in any way
            applied[name] = error
