#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Write a small DOF, made as libusdt makes it: no relocations, addresses in
place.

usage: dofimage.py [--be] [--version=N] PROVIDER ADDRESS PROBE...
A PROBE is NAME or NAME=TYPE,TYPE...; each has a function f_NAME at ADDRESS
(64 bytes further for each), with a site at +16 and an is-enabled site at +10.
"""
import struct
import sys

STRTAB, PROVIDER, PROBES, PRARGS, PROFFS, PRENOFFS = 8, 15, 16, 17, 18, 26


def image(provider, address, probes, order='<', version=3):
    """Bytes of one DOF; `probes` are pairs of a name and types."""
    strings = bytearray(b'\0')

    def add(*texts):
        at = len(strings)
        for t in texts:
            strings.extend(t.encode() + b'\0')
        return at if texts else 0

    table, args, offs, enoffs = b'', b'', b'', b''
    name = add(provider)
    for i, (probe, types) in enumerate(probes):
        where = add(*types)
        table += struct.pack(
            order + 'Q6IBBHIHHI', address + 64 * i, add('f_' + probe),
            add(probe), where, where, len(args), i, len(types), len(types),
            1, i, 1, 0, 0)
        args += bytes(range(len(types)))
        offs += struct.pack(order + 'I', 16)
        enoffs += struct.pack(order + 'I', 10)
    attrs = [0x05050500] * 5
    prov = struct.pack(order + '11I', 0, 1, 2, 3, name, *attrs, 4)
    secs = [(STRTAB, 1, 0, bytes(strings)), (PROBES, 8, 48, table),
            (PRARGS, 1, 1, args), (PROFFS, 4, 4, offs),
            (PRENOFFS, 4, 4, enoffs), (PROVIDER, 4, 0, prov)]
    at, heads, body = 64 + 32 * len(secs), b'', b''
    for kind, align, entsize, data in secs:
        pad = -at % align
        body += bytes(pad) + data
        at += pad
        heads += struct.pack(order + 'IIIIQQ', kind, align, 1, entsize, at,
                             len(data))
        at += len(data)
    ident = b'\x7fDOF' + bytes([2, 1 if order == '<' else 2, version, 2, 8,
                                8]) + bytes(6)
    return ident + struct.pack(order + 'IIIIQQQQ', 0, 64, 32, len(secs), 64,
                               at, at, 0) + heads + body


def main():
    order, version, rest = '<', 3, []
    for a in sys.argv[1:]:
        if a == '--be':
            order = '>'
        elif a.startswith('--version='):
            version = int(a[10:])
        else:
            rest.append(a)
    probes = []
    for p in rest[2:]:
        name, _, types = p.partition('=')
        probes.append((name, types.split(',') if types else []))
    sys.stdout.buffer.write(image(rest[0], int(rest[1], 0), probes, order,
                                  version))


if __name__ == '__main__':
    main()
