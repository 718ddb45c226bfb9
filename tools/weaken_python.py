"""Makes the symbols that a shared object wants from Python weak, in place: it then loads where there is no Python.

usage: weaken_python.py FILE      Inside a Python process nothing changes: weak symbols are bound like others if they are there.
"""

import struct
import sys
from pathlib import Path

SHT_DYNSYM = 11
SHN_UNDEF, STB_GLOBAL, STB_WEAK = 0, 1, 2
SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")


def main() -> None:
    path = Path(sys.argv[1])
    data = bytearray(path.read_bytes())
    assert data[:5] == b"\x7fELF\x02", "not an ELF file of 64 bits"
    (table,) = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    sections = [SECTION.unpack_from(data, table + i * size) for i in range(count)]
    for section in sections:
        if section[1] != SHT_DYNSYM:
            continue
        names = sections[section[6]][4]
        for at in range(section[4], section[4] + section[5], SYMBOL.size):
            name, info, other, index, value, length = SYMBOL.unpack_from(data, at)
            start = names + name
            is_pythons = data[start : start + 2] == b"Py" or data[start : start + 3] == b"_Py"
            if index == SHN_UNDEF and info >> 4 == STB_GLOBAL and is_pythons:
                info = STB_WEAK << 4 | info & 15
                SYMBOL.pack_into(data, at, name, info, other, index, value, length)
    path.write_bytes(data)


if __name__ == "__main__":
    main()
