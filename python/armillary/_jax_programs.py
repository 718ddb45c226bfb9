"""Patches for how JAX writes programs for a platform. See _jax_patches."""

import functools
from typing import Any

from armillary._jax_patches import Platforms, patch


@patch
def _lowerings(platforms: Platforms) -> None:
    """Rules registered for cpu, now or later, are ours: one table with several names."""
    from jax._src.interpreters import mlir

    tables = mlir._platform_specific_lowerings
    for platform in platforms:
        if tables[platform] is not tables["cpu"]:
            tables["cpu"].update({p: r for p, r in tables[platform].items() if p not in tables["cpu"]})
            tables[platform] = tables["cpu"]


@patch
def _branches(platforms: Platforms) -> None:
    """jax.lax.platform_dependent(cpu=...) and rules with one branch a platform: ours takes cpu's."""
    from jax._src.interpreters import mlir

    original = mlir.lower_per_platform

    @functools.wraps(original)
    def lower_per_platform(
        ctx: Any, description: str, platform_rules: dict[str, Any], *args: Any, **kwargs: Any
    ) -> Any:
        if "cpu" in platform_rules:
            platform_rules = {**dict.fromkeys(platforms, platform_rules["cpu"]), **platform_rules}
        return original(ctx, description, platform_rules, *args, **kwargs)

    mlir.lower_per_platform = lower_per_platform


@patch
def _platform_conditions(platforms: Platforms) -> None:
    """The branches that jax.lax.platform_dependent() leaves for each platform: ours is among those of cpu."""
    import dataclasses

    from jax._src.interpreters import mlir
    from jax._src.lax.control_flow import conditionals

    entry = mlir._lowerings[conditionals.cond_p]

    def with_ours(names: Platforms | None) -> Platforms | None:
        return (*names, *platforms) if names and "cpu" in names else names

    @functools.wraps(entry.rule)
    def rule(*args: Any, **params: Any) -> Any:
        if branches := params.get("branches_platforms"):
            params["branches_platforms"] = tuple(map(with_ours, branches))
        return entry.rule(*args, **params)

    mlir._lowerings[conditionals.cond_p] = dataclasses.replace(entry, rule=rule)


@patch
def _exported_programs(platforms: Platforms) -> None:
    """What is exported for cpu runs on ours, and what is exported on ours is for cpu, so that it runs on both."""
    import dataclasses

    from jax import export
    from jax._src.export import _export
    from jax._src.interpreters import mlir

    default, entry = _export.default_export_platform, mlir._lowerings[_export.call_exported_p]

    @functools.wraps(default)
    def default_export_platform() -> str:
        name = default()
        return "cpu" if name in platforms else name

    @functools.wraps(entry.rule)
    def rule(ctx: Any, *args: Any, exported: Any, **params: Any) -> Any:
        ours = [p for p in ctx.module_context.platforms if p in platforms and p not in exported.platforms]
        for platform in ours:
            names = tuple(platform if name == "cpu" else name for name in exported.platforms)
            exported = dataclasses.replace(exported, platforms=names)
        return entry.rule(ctx, *args, exported=exported, **params)

    for module in (export, _export):
        module.default_export_platform = default_export_platform
    mlir._lowerings[_export.call_exported_p] = dataclasses.replace(entry, rule=rule)


@patch
def _custom_partitioning(platforms: Platforms) -> None:
    """A function with a partitioning rule of its own goes with its call, for where the rule is not asked."""
    import dataclasses

    from jax._src import custom_partitioning
    from jax._src.interpreters import mlir
    from jax._src.lib.mlir import ir

    entry = mlir._lowerings[custom_partitioning.custom_partitioning_p]

    @functools.wraps(entry.rule)
    def rule(ctx: Any, *args: Any, call: Any, **params: Any) -> Any:
        results = entry.rule(ctx, *args, call=call, **params)
        made = ir.Value(results[0]).owner if results else None
        if (
            any(platform in platforms for platform in ctx.module_context.platforms)
            and isinstance(made, ir.OpView)
            and made.name == "stablehlo.custom_call"
        ):
            function = mlir.lower_jaxpr_to_fun(
                ctx.module_context, "custom_partitioning", call, [], num_const_args=0, in_avals=call.in_avals
            )
            made.attributes["called_computations"] = ir.ArrayAttr.get(
                [ir.FlatSymbolRefAttr.get(function.name.value)]
            )
        return results

    mlir._lowerings[custom_partitioning.custom_partitioning_p] = dataclasses.replace(entry, rule=rule)
