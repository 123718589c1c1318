#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compare the notes that the two programs find below some directories with
those that readelf(1) shows, site by site, and functions with its symbols.

usage: readelf.py [DIRECTORY...]      (/usr unless given)
"""
import collections
import json
import mmap
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

import stream
from stream import need

SAMPLE = 300
SEED = 20240229
TWO = sys.executable    # with two files readelf names each
DEBUG = b'/usr/lib/debug/.build-id'
Site = collections.namedtuple('Site', 'provider name pc base sem args')


# --- which files ---------------------------------------------------------

def regular_files(root):
    """Paths of regular files of one file system; no link is followed."""
    if not os.path.isdir(root):
        yield root
        return
    dev = os.stat(root).st_dev
    todo = [root]
    while todo:
        try:
            entries = list(os.scandir(todo.pop()))
        except OSError:
            continue
        for e in entries:
            if e.is_dir(follow_symlinks=False):
                if e.stat(follow_symlinks=False).st_dev == dev:
                    todo.append(e.path)
            elif e.is_file(follow_symlinks=False):
                yield e.path


def section_names(fd, head):
    """The bytes of .shstrtab."""
    wide, e = head[4] == 2, '<' if head[5] == 1 else '>'
    shoff, = struct.unpack_from(e + ('Q' if wide else 'I'), head,
                                40 if wide else 32)
    size, n, index = struct.unpack_from(e + 'HHH', head, 58 if wide else 46)
    if shoff == 0:
        return b''      # readelf finds nothing either
    if index == 0xffff:
        index, = struct.unpack_from(e + 'I', os.pread(fd, size, shoff),
                                    40 if wide else 24)
    off, length = struct.unpack_from(
        e + ('QQ' if wide else 'II'), os.pread(fd, size, shoff + index * size),
        24 if wide else 16)
    return os.pread(fd, length, off)


def may_have_notes(path):
    """An ELF with such a section, or an archive with such a name in it."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        head = os.pread(fd, 64, 0)
        if head[:4] == b'\x7fELF':
            return b'.note.stapsdt\0' in section_names(fd, head)
        if head[:8] not in (b'!<arch>\n', b'!<thin>\n'):
            return False
        with mmap.mmap(fd, 0, prot=mmap.PROT_READ) as m:
            return m.find(b'stapsdt\0') != -1
    except (OSError, struct.error):
        return True     # let readelf say
    finally:
        os.close(fd)


# --- what readelf says ---------------------------------------------------

LOCATION = re.compile(rb'Location: 0x(\w+), Base: 0x(\w+), '
                      rb'Semaphore: 0x(\w+)')


def readelf_notes(paths):
    """{(path, member): Counter of Site}"""
    found = collections.defaultdict(collections.Counter)
    for i in range(0, len(paths), 200):
        out = subprocess.run(
            ['readelf', '-nW', '--'] + paths[i:i + 200] + [TWO],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, 'LC_ALL': 'C'}).stdout
        key, site = None, {}
        for line in out.split(b'\n'):
            s = line.strip()
            if line.startswith(b'File: '):
                key = split_member(line[6:], paths)
            elif b'\tNT_STAPSDT ' in line and b'Provider: ' in line:
                site = {'provider': line.split(b'Provider: ', 1)[1]}
            elif s.startswith(b'Name: ') and 'provider' in site:
                site['name'] = s[6:]
            elif s.startswith(b'Location: ') and 'name' in site:
                m = LOCATION.match(s)
                site.update(zip(('pc', 'base', 'sem'),
                                (int(x, 16) for x in m.groups())))
            elif s.startswith(b'Arguments:') and 'pc' in site:
                found[key][Site(args=s[10:].strip(), **site)] += 1
                site = {}
    return found


def split_member(name, paths):
    m = re.fullmatch(rb'(.+?)\((.*)\)', name, re.S)
    if m and not os.path.exists(name):
        return m.group(1), m.group(2)
    return name, b''


# --- what the programs say -----------------------------------------------

def text(j, key):
    if key + '_hex' in j:
        return bytes.fromhex(j[key + '_hex'])
    return j[key].encode()


def relocated(desc, rels, order):
    """readelf applies the relocations of a relocatable object; so do we."""
    desc = bytearray(desc)
    for r in rels:
        size = r['width']
        at = slice(r['offset'], r['offset'] + size)
        word = r['sym_value'] + r['addend']
        if not r['explicit_addend']:
            word += int.from_bytes(desc[at], order)
        desc[at] = (word & (1 << 8 * size) - 1).to_bytes(size, order)
    return bytes(desc)


def note_of(obj, desc):
    """The fields of a descriptor; only the base is not in what dofparse says."""
    e = '<' if obj['order'] == 'lsb' else '>'
    n = 8 if obj['class'] == 64 else 4
    pc, base, sem = struct.unpack_from(e + ('QQQ' if n == 8 else 'III'), desc)
    provider, name, args = (desc[3 * n:] + b'\0').split(b'\0')[:3]
    return Site(provider, name, pc, base, sem, args.strip())


def raw_notes(raw):
    """{(path, member): Counter of Site} from the extract stream."""
    schema = stream.Schema()
    found = collections.defaultdict(collections.Counter)
    obj, rels = None, []
    for _, kind, _, body in stream.frames(raw):
        name = schema.records[kind][0]
        if name == 'object':
            obj = schema.decode(kind, body)
        elif name == 'elfrel':
            rels.append(schema.decode(kind, body))
        elif name == 'rawnote':
            r = schema.decode(kind, body)
            desc = relocated(r['desc'], rels if obj['e_type'] == 1 else [],
                             'little' if obj['order'] == 'lsb' else 'big')
            rels = []
            if (r['owner'], r['note_type']) == (b'stapsdt', 3):
                found[obj['path'], obj['member']][note_of(obj, desc)] += 1
    return found


def parsed_sites(raw):
    """({(path, member): Counter of Site without base}, site list)"""
    p = stream.run(['dofparse', '--json'], raw)
    need(p.status == 0, 'dofparse: %d: %r', p.status, p.err[-500:])
    found = collections.defaultdict(collections.Counter)
    all_sites, recs = [], {}
    for line in p.out.splitlines():
        j = json.loads(line)
        t = j['type']
        if t == 'object':
            recs = {'object': j, 'provider': [], 'probe': [], 'site': [],
                    'reloc': []}
        elif t in recs and t != 'object':
            recs[t].append(j)
        elif t == 'object_end':
            one_object(recs, found, all_sites)
    return found, all_sites


def one_object(recs, found, all_sites):
    obj = recs['object']
    key = text(obj, 'path'), text(obj, 'member')
    for s in recs['site']:
        probe = recs['probe'][s['probe']]
        prov = recs['provider'][probe['provider']]
        if prov['source'] != 'stapsdt':
            continue
        pc = apply(recs, int(s['addr'], 16), s['reloc'], s['nreloc'])
        sem = apply(recs, int(s['sem'], 16), s['sem_reloc'], s['sem_nreloc'])
        rel = obj['e_type'] == 1
        found[key][Site(text(prov, 'name'), text(probe, 'name'),
                        pc if rel else int(s['stored'], 16), None,
                        sem if rel else int(s['sem'], 16),
                        text(s, 'args').strip())] += 1
        if key[1] == b'' and not rel:
            all_sites.append((key[0], obj['build_id'], pc,
                              text(probe, 'function')))


def apply(recs, value, first, n):
    """The link-time address."""
    for r in recs['reloc'][first:first + n]:
        if r['replaces']:
            value -= int(r['in_place'], 16)
        value += int(r['sym_value'], 16) + stream.number(r['addend'])
    return value & stream.M64


def compare(what, got, want, trouble):
    for key in sorted(set(got) | set(want)):
        for site in sorted((got[key] - want[key]).elements(), key=str):
            trouble.append('%s: %s: only here: %s' % (what, key, site))
        for site in sorted((want[key] - got[key]).elements(), key=str):
            trouble.append('%s: %s: only readelf: %s' % (what, key, site))


# --- functions -----------------------------------------------------------

FUNC = re.compile(rb'^ *\d+: ([0-9a-f]+) +(\w+) +I?FUNC +\S+ +\S+ +'
                  rb'(?:\[.*?\] +)?(\d+|ABS) (.*)$', re.M)


def functions(path):
    out = subprocess.run(['readelf', '-sW', path], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL,
                         env={**os.environ, 'LC_ALL': 'C'}).stdout
    return [(int(v, 16), int(n, 0), name.split(b'@')[0])
            for v, n, _, name in FUNC.findall(out)]


def check_functions(sites, trouble):
    """Named sites, sites where no symbol says anything."""
    random.seed(SEED)
    sample = random.sample(sorted(sites), min(SAMPLE, len(sites)))
    tables, named, unknown = {}, 0, 0
    for path, build_id, pc, function in sample:
        if path not in tables:
            tables[path] = functions(path)
            dbg = os.path.join(DEBUG, os.fsencode(build_id[:2]),
                               os.fsencode(build_id[2:]) + b'.debug')
            if build_id and os.path.exists(dbg):
                tables[path] += functions(dbg)
        names = {n for v, size, n in tables[path] if v <= pc < v + size}
        named, unknown = named + bool(names), unknown + (not names)
        if function not in names and (names or function):
            trouble.append('%s: 0x%x in %s, readelf -s says %s' %
                           (path, pc, function, sorted(names)))
    return named, unknown


def main():
    roots = sys.argv[1:] or ['/usr']
    if shutil.which('readelf') is None:
        stream.absent('no readelf')
    paths = [os.fsencode(p) for root in roots for p in regular_files(root)
             if may_have_notes(p)]
    want = readelf_notes(paths)
    with tempfile.TemporaryFile() as f:
        status = subprocess.run(
            [os.path.join(stream.BIN, 'dofextract'), '-q', '-r',
             '--source=stapsdt'] + roots, stdout=f).returncode
        need(status in (0, 1, 2), 'dofextract ended with %d', status)
        f.seek(0)
        raw = f.read()
    trouble = []
    compare('dofextract', raw_notes(raw), want, trouble)
    parsed, sites = parsed_sites(raw)
    for key in want:
        want[key] = collections.Counter(
            s._replace(base=None) for s in want[key].elements())
    compare('dofparse', parsed, want, trouble)
    named, unknown = check_functions(sites, trouble)
    for t in trouble:
        print(t)
    total = sum(sum(c.values()) for c in want.values())
    print('readelf: %d files below %s have notes (%d may), %d objects, '
          '%d sites; %d sites in functions, %d in none: %s' % (
              len({k[0] for k in want}), ' '.join(roots), len(paths),
              len(want), total, named, unknown,
              '%d DIFFERENCES' % len(trouble) if trouble else 'ok'))
    if total == 0:
        print('readelf: nothing to compare with')
    return 1 if trouble or total == 0 else 0


if __name__ == '__main__':
    sys.exit(main())
