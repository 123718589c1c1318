#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Cut a binary stream of dofextract everywhere and see that dofparse notices.

usage: cuts.py STREAM...
Every boundary of a record is a cut, and three places inside each.  A cut
stream gives status 2, the number of whole objects on stderr, and no end; the
objects in front of the cut come out as they do from the whole stream.
"""
import json
import re
import sys

import stream
from stream import need


def whole_objects(out):
    """NDJSON lines of each whole object."""
    objs, cur = [], None
    for line in out.splitlines():
        t = json.loads(line)['type']
        if t == 'object':
            cur = []
        if cur is not None:
            cur.append(line)
        if t == 'object_end':
            objs.append(cur)
            cur = None
    return objs


def check(data, at, done, want):
    p = stream.run(['dofparse', '--json'], data[:at])
    need(p.status == 2, 'cut at %d: status %d', at, p.status)
    need(b'"type":"end"' not in p.out, 'cut at %d: an end', at)
    lines = p.err.decode().splitlines()
    need(len(lines) == 1, 'cut at %d: stderr %r', at, lines)
    if at > 0:
        m = re.search(r'\b(\d+) whole object', lines[0])
        need(m and int(m.group(1)) == done and '0x' in lines[0],
             'cut at %d, %d whole objects: %r', at, done, lines)
    got = whole_objects(p.out)
    need(got[:done] == want[:done], 'cut at %d: objects', at)
    need(len(got) <= done + 1, 'cut at %d: objects of nothing', at)


def main():
    schema, cuts = stream.Schema(), 0
    for path in sys.argv[1:]:
        data = open(path, 'rb').read()
        want = whole_objects(stream.run(['dofparse', '--json'], data).out)
        places, done = [], 0
        for at, kind, _, body in stream.frames(data):
            for x in {0, 1, 8, len(body) + 7}:
                places.append((at + x, done))
            if schema.records[kind][0] == 'object_end':
                done += 1
        need(len(want) == done > 1, '%s: %d objects', path, done)
        step = max(1, len(places) // 400)
        for at, n in places[::step]:
            check(data, at, n, want)
            cuts += 1
    need(cuts > 50, 'only %d cuts', cuts)
    print('cuts: %d ok' % cuts)


if __name__ == '__main__':
    main()
