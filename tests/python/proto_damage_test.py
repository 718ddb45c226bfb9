"""Damaged bytes are an error with a place, never a crash."""

import random

import armillary as arm
import pytest

from tests.python import programs

SEED = 20260611
ROUNDS = 400


def mutate(data: bytes, rng: random.Random) -> bytes:
    """Flips, cuts, inserts or repeats a few bytes."""
    damaged = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(damaged))
        match rng.randrange(4):
            case 0:
                damaged[at] = rng.randrange(256)
            case 1:
                del damaged[at : at + rng.randint(1, 8)]
            case 2:
                damaged[at:at] = bytes(rng.randrange(256) for _ in range(rng.randint(1, 4)))
            case 3:
                damaged[at:at] = damaged[at : at + rng.randint(1, 16)]
        if not damaged:
            return b"\x00"
    return bytes(damaged)


def read(data: bytes) -> None:
    """Whatever can be read can also be verified, printed and written."""
    try:
        module = arm.Module.from_proto(data)
        module.to_text()
        module.to_proto()
        module.verify()
    except arm.InternalError as error:
        raise AssertionError("bad bytes must not be called our mistake") from error
    except arm.Error:
        pass


@pytest.mark.parametrize(
    "text", [programs.ATTRIBUTES, programs.COLLECTIVES], ids=["attributes", "collectives"]
)
def test_damaged_modules_are_refused_or_read(text: str) -> None:
    data = programs.xla_proto(text)
    rng = random.Random(SEED)
    for round in range(ROUNDS):
        state = rng.getstate()
        try:
            read(mutate(data, rng))
        except AssertionError:
            print(f"seed {SEED}, round {round}, state {hash(state)}")
            raise


def test_every_cut_is_refused_or_read() -> None:
    data = programs.xla_proto(programs.single("f32[2]{0} constant({1,2})"))
    for end in range(len(data)):
        read(data[:end])


@pytest.mark.parametrize("data", [b"", b"\x00", b"\xff" * 40, b"\x0a\x05hello", bytes(range(256))])
def test_bytes_of_no_module_are_refused(data: bytes) -> None:
    with pytest.raises(arm.UserError):
        arm.Module.from_proto(data)


def replaced(text: str, old: bytes, new: bytes) -> bytes:
    data = programs.xla_proto(text)
    assert data.count(old) == 1, data
    return data.replace(old, new)


def test_an_unknown_op_names_its_neighbour() -> None:
    data = replaced(programs.single("f32[2] parameter(0)"), b"parameter", b"paramoter")
    with pytest.raises(arm.UserError, match=r"%x = paramoter.*did you mean parameter"):
        arm.Module.from_proto(data)


def test_a_literal_must_fill_its_shape() -> None:
    data = replaced(
        programs.single("s8[3] constant({1,2,3})"),
        b"\x7a\x03\x01\x02\x03",
        b"\x7a\x03\x01\x02\x03\x7a\x01\x09",
    )
    with pytest.raises(arm.UserError):
        arm.Module.from_proto(data)
