"""Writes x -> 2 x + 1 on four floats as a StableHLO artifact, as JAX sends it to plugins, and as an HLO proto."""

import sys
from pathlib import Path

import jax
import jax.numpy as jnp
from jaxlib.mlir.dialects import stablehlo

VERSION = "1.17.0"  # the one that the plugin asks for

jax.config.update("jax_platforms", "cpu")
lowered = jax.jit(lambda x: 2 * x + 1).lower(jnp.ones(4))
artifact, proto = map(Path, sys.argv[1:])
artifact.write_bytes(stablehlo.serialize_portable_artifact(lowered.compiler_ir("stablehlo"), VERSION))
proto.write_bytes(lowered.compiler_ir("hlo").as_serialized_hlo_module_proto())
