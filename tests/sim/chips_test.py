"""The table of chips, chips of one's own, and the command that prints them."""

from pathlib import Path

import armillary as arm
import pytest
from armillary.cli import app
from typer.testing import CliRunner


def toml_of(chip: arm.sim.Chip) -> str:
    lines = [f"{name} = {constant.value!r}" for name, constant in chip.constants.items()]
    return "\n".join(['name = "mine"', *lines])


def test_all_chips_are_there_with_sources() -> None:
    chips = arm.sim.chips()
    assert list(chips) == ["v1", "v2", "v3", "v4", "v4i", "v5e", "v5p", "v6e", "v7x"]
    assert all(constant.source for chip in chips.values() for constant in chip.constants.values())
    assert chips["v5e"].constants["peak_bf16_flops"].value == 197e12


def test_a_chip_of_ones_own_is_read_and_used(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        toml_of(arm.sim.chips()["v5e"]).replace("ici_bytes_per_s = 50000000000.0", "ici_bytes_per_s = 1e11")
    )
    mine = arm.sim.load_chip(file)
    assert mine.name == "mine"
    assert mine.constants["clock_hz"].source == str(file)
    times = [arm.sim.collective_seconds("v5e:4x4", "all-gather", 1 << 30, chip=chip) for chip in (None, mine)]
    assert times[1] == pytest.approx(times[0] / 2, rel=0.01)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("clock_hz", "clock_herz"), "unknown clock_herz; missing clock_hz"),
        (("cores = 1.0", ""), "missing cores"),
        (("cores = 1.0", "cores = 1.5"), "cores is 1.5, but must be a whole number"),
        (("cores = 1.0", 'cores = "one"'), "cores is 'one', but must be a number"),
        (("cores = 1.0", "cores = nan"), "cores is nan"),
        (("cores = 1.0", "cores = true"), "cores is True"),
        (("cores = 1.0", "cores = ="), "is no TOML"),
    ],
)
def test_a_wrong_file_is_refused_with_the_keys(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(toml_of(arm.sim.chips()["v5e"]).replace(*change))
    with pytest.raises(arm.UserError, match=message):
        arm.sim.load_chip(file)


def test_what_if_one_constant_were_another() -> None:
    v6e = arm.sim.chips()["v6e"]
    slow = v6e.replace(hbm_bytes_per_s=1.638e12 / 2)
    assert arm.sim.copy_seconds(slow, 1 << 30) > 1.9 * arm.sim.copy_seconds(v6e, 1 << 30)
    with pytest.raises(arm.UserError, match="v6e has no constant hbm_speed"):
        v6e.replace(hbm_speed=1)
    with pytest.raises(arm.UserError, match=r"cores is 1\.5"):
        v6e.replace(cores=1.5)


def test_the_command_lists_chips_and_sources() -> None:
    run = CliRunner().invoke
    listing = run(app, ["chips"]).output
    assert len(listing.splitlines()) == 9
    assert "v5e" in listing
    sources = run(app, ["chips", "v6e", "--sources"]).output
    assert "assumed" in sources
    assert "clock_hz" in sources
    assert "prior" in sources
    assert "assumed" not in run(app, ["chips", "v6e"]).output
    with pytest.raises(arm.UserError, match="there is no chip 'v9'"):
        run(app, ["chips", "v9"], catch_exceptions=False)
