# SPDX-License-Identifier: BSD-2-Clause
"""Function symbols of an ELF file, read plainly; any class and byte order."""
import struct

SHT_SYMTAB, SHT_DYNSYM = 2, 11
STT_FUNC, STT_GNU_IFUNC = 2, 10
EM_ARM = 40


class Functions:
    def __init__(self, path):
        b = open(path, 'rb').read()
        wide = b[4] == 2
        e = '<' if b[5] == 1 else '>'
        machine, = struct.unpack_from(e + 'H', b, 18)
        if wide:
            shoff, = struct.unpack_from(e + 'Q', b, 40)
            size, n = struct.unpack_from(e + 'HH', b, 58)
        else:
            shoff, = struct.unpack_from(e + 'I', b, 32)
            size, n = struct.unpack_from(e + 'HH', b, 46)
        sh = [struct.unpack_from(e + ('IIQQQQIIQQ' if wide else '10I'), b,
                                 shoff + i * size) for i in range(n)]
        self.all = []   # (value, size, section, name)
        for s in sh:
            if s[1] not in (SHT_SYMTAB, SHT_DYNSYM):
                continue
            strings = sh[s[6]][4]
            for at in range(s[4], s[4] + s[5], s[9]):
                if wide:
                    name, info, _, shndx, value, length = struct.unpack_from(
                        e + 'IBBHQQ', b, at)
                else:
                    name, value, length, info, _, shndx = struct.unpack_from(
                        e + 'IIIBBH', b, at)
                if info & 15 not in (STT_FUNC, STT_GNU_IFUNC) or shndx == 0:
                    continue
                if machine == EM_ARM:
                    value &= ~1     # Thumb
                text = b[strings + name:b.index(0, strings + name)]
                self.all.append((value, length, shndx, text))

    def around(self, pc, section=None):
        """Names of the functions that enclose an address by their size."""
        return {name for value, size, sec, name in self.all
                if value <= pc < value + size and section in (None, sec)}
