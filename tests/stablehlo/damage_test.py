"""Damaged artifacts are errors, or other programs: never a crash, a hang or memory without end."""

import random
import resource

import armillary as arm
from armillary import _core

from tests.stablehlo import artifacts

SEEDS = (
    "sharded",
    "shard_map",
    "nested_loops",
    "convolutions",
    "element_types",
    "foreign_calls",
    "callbacks",
)
TRIES = 2000
MEMORY = 1 << 30  # bytes beyond what the process has at the start


def damage(data: bytes, rng: random.Random) -> bytes:
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        at = rng.randrange(len(out))
        match rng.randrange(5):
            case 0:
                out[at] = rng.randrange(256)
            case 1:
                out[at] ^= 1 << rng.randrange(8)
            case 2:
                del out[at : at + rng.randrange(1, 9)]
            case 3:
                out[at:at] = rng.randbytes(rng.randrange(1, 5))
            case 4:
                source = rng.randrange(len(out))
                out[at : at + 8] = out[source : source + 8]
        if not out:
            return b""
    return bytes(out)


def test_damage_is_an_error_or_a_program() -> None:
    rng = random.Random(20)
    whole = [artifacts.artifact(artifacts.lower(name)) for name in SEEDS] + [artifacts.quantized()]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    refused = 0
    for attempt in range(TRIES):
        data = damage(whole[attempt % len(whole)], rng)
        try:
            module = _core.Module.from_stablehlo(data)
            module.verify()
        except arm.Error as error:
            assert not isinstance(error, arm.InternalError), (attempt, error)
            refused += 1
    assert refused > TRIES // 2
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < MEMORY


def test_a_part_of_an_artifact_is_an_error() -> None:
    data = artifacts.artifact(artifacts.lower("loop"))
    for end in range(0, len(data), 7):
        try:
            _core.Module.from_stablehlo(data[:end])
        except arm.UserError:
            continue
        except arm.UnsupportedError:
            continue
        raise AssertionError(f"{end} bytes of {len(data)} are a program")
