#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Read every file of the corpus with the two programs and compare what comes
out with the expectations that lie beside the files.

usage: check.py [CORPUS]     (else $DOFPIPE_SHARED/corpus, ../shared/corpus)
"""
import glob
import json
import os
import re
import sys

import elfsyms
import sdtcheck
import stream
from stream import need

NAMES = ('Internal', 'Private', 'Obsolete', 'External', 'Unstable',
         'Evolving', 'Stable', 'Standard')
CLASSES = ('Unknown', 'CPU', 'Platform', 'Group', 'ISA', 'Common')
MACHINES = {'x86_64': 62, 'i386': 3, 'aarch64': 183, 'arm': 40,
            'ppc64le': 21, 'riscv64': 243, 's390x': 22}
E_TYPES = {'EXEC': 2, 'DYN': 3, 'REL': 1}
# A neighbour shares the word that was changed there.
SHARES_A_WORD = 'probe-dup-offsets.dof'
SCHEMA = stream.Schema()


class Count:
    files = sites = args = relocs = probes = bad = 0


def read_twice(args, data=b''):
    """Status and the Stream of one dofparse command, run three times."""
    a = stream.run(['dofparse'] + args, data)
    b = stream.run(['dofparse'] + args, data)
    j = stream.run(['dofparse', '--json'] + args, data)
    need(a.out == b.out, 'two runs differ')
    need(a.status == b.status == j.status, 'status differs')
    need(a.err == j.err, 'messages differ')
    return a, stream.Stream(SCHEMA, a.out, j.out), j


def parse_elf(path, status=0):
    """dofextract FILE | dofparse, in all four pairs of forms."""
    x = stream.run(['dofextract', path])
    xj = stream.run(['dofextract', '--json', path])
    need(x.status == xj.status == status, 'dofextract: %d: %r', x.status,
         x.err)
    need(x.err == b'', 'dofextract said %r', x.err)
    raw = stream.Stream(SCHEMA, x.out, xj.out)
    stream.objects(raw)
    p, s, j = read_twice([], x.out)
    need(p.status == status and p.err == b'', 'dofparse: %d: %r', p.status,
         p.err)
    again = stream.run(['dofparse', '--json'], xj.out)
    need(again.out == j.out, 'NDJSON between the two makes a difference')
    objs, n = stream.invariants(s)
    Count.relocs += n
    need(not any(o.count['error'] for o in objs), 'error records')
    check_text([], objs, x.out)
    return objs


def check_text(args, objs, data=b''):
    """--text shows the link-time addresses."""
    p = stream.run(['dofparse', '--text'] + args, data)
    got = [(int(a, 16), int(b, 16) if b else 0) for a, b in re.findall(
        rb'^  0x([0-9a-f]+) (?:.*? semaphore 0x([0-9a-f]+))?', p.out, re.M)]
    want = []
    for o in objs:
        for s in o.lists['site']:
            prov = o.lists['provider'][o.lists['probe'][s['probe']]
                                       ['provider']]
            at = o.lists['dof'][prov['dof']]['vaddr'] \
                if prov['source'] == 'dof' else 0
            want.append((
                stream.resolve(o, s['addr'], s['reloc'], s['nreloc'], 0, at),
                stream.resolve(o, s['sem'], s['sem_reloc'], s['sem_nreloc'])))
    need(got == want, '--text\ngot  %r\nwant %r', got, want)


# --- DOF -----------------------------------------------------------------

def named(table, i):
    return table[i] if i < len(table) else '#%d' % i


def attribute(word):
    need(word & 0xff == 0, 'attribute 0x%x', word)
    return [named(NAMES, word >> 24), named(NAMES, word >> 16 & 255),
            named(CLASSES, word >> 8 & 255)]


def text(b):
    return b.decode('latin-1')


def dofs_of(objs, bases, offsets):
    """What a list of objects says, in the shape of the expectation."""
    dofs, provs, probes = [], [], {}
    for o in objs:
        names = {}
        for p in o.lists['provider']:
            need(p['source'] == 'dof', 'source %s', p['source'])
            provs.append((text(p['name']), {
                k: attribute(p['attr_' + k]) for k in
                ('provider', 'module', 'function', 'name', 'args')}))
            names.setdefault(p['dof'], []).append(text(p['name']))
        dofs += [{'version': d['version'], 'model': d['model'].upper(),
                  'encoding': d['order'].upper(),
                  'providers': sorted(names.get(d['id'], []))}
                 for d in o.lists['dof']]
        for p in o.lists['probe']:
            prov = o.lists['provider'][p['provider']]
            key = tuple(text(x) for x in (prov['name'], p['function'],
                                          p['name']))
            merge(probes, key, [text(t) for t in p['native']],
                  [text(t) for t in p['translated']], p['map'],
                  sites_of(o, p, bases, offsets))
    return dofs, sorted(provs, key=lambda p: p[0]), probes


def merge(probes, key, native, translated, argmap, sites):
    """Local functions of several files may have one name."""
    types = (native, translated, argmap)
    if key in probes:
        need(probes[key][:3] == types, 'types of %s differ', key)
        sites = sorted(probes[key][3] + sites, key=str)
    probes[key] = types + (sites,)


def sites_of(o, probe, bases, offsets):
    out = []
    dof = o.lists['dof'][o.lists['provider'][probe['provider']]['dof']]
    for s in o.lists['site']:
        if s['probe'] != probe['id']:
            continue
        need(s['addr'] == (probe['addr'] + s['stored']) & stream.M64,
             'addr is not probe.addr + stored: %r', s)
        dof_addr = dof['vaddr'] if bases is None else bases[1]
        v = stream.resolve(o, s['addr'], s['reloc'], s['nreloc'],
                           0 if bases is None else bases[0], dof_addr)
        out.append((s['kind'], v, stream.file_offset(o, v)
                    if offsets else None))
    return sorted(out, key=str)


def expected(want, offsets):
    provs = sorted(((p['name'], p['attributes']) for p in want['providers']),
                   key=lambda p: p[0])
    probes = {}
    for p in want['probes']:
        merge(probes, (p['provider'], p['function'], p['name']),
              p['native_types'], p['translated_types'], p['map'],
              sorted(((s['kind'], s['vaddr'],
                       s['file_offset'] if offsets else None)
                      for s in p['sites']), key=str))
    dofs = [{**d, 'providers': sorted(d['providers'])} for d in want['dof']]
    return dofs, provs, probes


def same_dofs(objs, want, bases=None):
    offsets = bases is None
    got, exp = dofs_of(objs, bases, offsets), expected(want, offsets)
    for g, e, what in zip(got, exp, ('DOFs', 'providers', 'probes')):
        need(g == e, '%s\ngot  %r\nwant %r', what, g, e)
    Count.probes += len(exp[2])
    n = sum(len(p[3]) for p in exp[2].values())
    Count.sites += n
    return n


def check_head(o, want, path):
    h = o.head
    need(h['path'] == os.fsencode(path), 'path %r', h['path'])
    need(h['build_id'].hex() == want['build_id'], 'build-id')
    need(h['machine'] == MACHINES[want['machine']], 'machine')
    need(h['class'] == want['class'], 'class')
    need(h['e_type'] == E_TYPES[want['type']], 'e_type')
    st = os.stat(path)
    need((h['dev'], h['ino'], h['size'], h['mtime_ns'], h['ctime_ns']) ==
         (st.st_dev, st.st_ino, st.st_size, st.st_mtime_ns, st.st_ctime_ns),
         'what stat(2) gives')


def check_elf(path, want):
    nobits = want['section'].get('nobits', False)
    objs = parse_elf(path, 1 if nobits else 0)
    same_dofs(objs, want)
    if nobits:
        need(objs == [], 'an object without data')
        x = stream.run(['dofextract', '--empty', path])
        _, s, _ = read_twice([], x.out)
        objs = stream.objects(s)
    need(len(objs) == 1, '%d objects', len(objs))
    check_head(objs[0], want, path)
    if nobits:
        return
    first = objs[0].lists['dof'][0]
    sec = want['section']
    need((first['section'], first['vaddr'], first['fileoff']) ==
         (sec['name'].encode(), sec['vaddr'], sec['file_offset']), 'section')
    need(all(s['attachable'] for s in objs[0].lists['site']),
         'not attachable')


def check_bare(path, want):
    load = want['load']
    args = [path]
    if load.get('signed_offsets'):
        args.append('--machine=' + ('x86_64' if load['site_bias'] == -1
                                    else 'aarch64'))
    p, s, _ = read_twice(args)
    need(p.status == 0 and p.err == b'', 'dofparse: %d: %r', p.status, p.err)
    objs, n = stream.invariants(s)
    Count.relocs += n
    same_dofs(objs, want, (load['load_addr'], load['dof_addr']))
    check_text(args, objs)
    raw = open(path, 'rb').read()
    need(b''.join(d['raw'] for o in objs for d in o.lists['dof']) == raw,
         'raw bytes')
    x = stream.run(['dofextract', path])    # named, it is an object, too
    need(x.status == 0, 'dofextract of bare DOF: %d: %r', x.status, x.err)
    via = stream.run(['dofparse', '--json'] + args[1:], x.out)
    need(via.status == 0, 'dofparse of it: %d', via.status)
    need(len(via.out.splitlines()) == len(s.records), 'other records')


# --- malformed -----------------------------------------------------------

def site_set(objs):
    out = set()
    for key, p in dofs_of(objs, (0, 0), False)[2].items():
        out.update(key + s for s in p[3])
    return out


def wanted_sites(row):
    out = set()
    for prov, func, name, probe, enabled in row['sites']:
        for kind, at in (('probe', probe), ('is-enabled', enabled)):
            out.update((prov, func, name, kind, v, None) for v in at)
    return out


def check_bad(path, row, good):
    p, s, _ = read_twice([path])
    objs, n = stream.invariants(s, row['verdict'] != 'accept')
    Count.relocs += n
    got = site_set(objs)
    errors = [r for r in s.records if r['type'] == 'error']
    if row['verdict'] == 'accept':
        need(p.status == 0 and not errors and p.err == b'',
             'accept: %d: %r', p.status, p.err)
        need(got == wanted_sites(row), 'sites\ngot  %r\nwant %r', got,
             wanted_sites(row))
        Count.sites += len(got)
        return
    need(p.status in (0, 1, 2), 'status %d', p.status)
    need((p.status == 2) == bool(errors) == bool(p.err),
         'status %d, %d errors, %r', p.status, len(errors), p.err)
    if row['verdict'] == 'choice':
        return
    need(p.status == 2, 'reject: %d', p.status)
    lines = p.err.decode().splitlines()
    where = 'at 0x[0-9a-f]+: ' if os.path.getsize(path) else ''
    pattern = 'dofparse: %s: %s.+' % (re.escape(path), where)
    need(len(lines) == len(errors) and
         all(re.fullmatch(pattern, x) for x in lines), 'stderr %r', lines)
    for r in errors:
        need(r['input'] == path.encode() and r['message'] != b'' and
             (r['offset'] <= os.path.getsize(path) or not where),
             'error %r', r)
    if os.path.basename(path) != SHARES_A_WORD:
        need(got <= good, 'sites of its own: %r', got - good)
    strict = stream.run(['dofparse', '--strict', '--json', path])
    need(strict.status == 2 and b'"type":"end"' not in strict.out,
         '--strict: %d', strict.status)
    quiet = stream.run(['dofparse', '-q', path])
    need(quiet.status == 2 and quiet.err == b'' and quiet.out == p.out,
         '-q: %d %r', quiet.status, quiet.err)


def check_verdicts(corpus, trouble):
    rows = json.load(open(os.path.join(corpus, 'bad', 'VERDICTS.json')))
    good = set()
    for r in rows:
        if r['group'] == 'valid':
            good |= wanted_sites(r)
    for r in rows:
        path = os.path.join(corpus, 'bad', r['file'])
        guard(trouble, path, lambda: check_bad(path, r, good))
        Count.bad += 1


# --- all -----------------------------------------------------------------

def guard(trouble, path, what):
    Count.files += 1
    try:
        what()
    except (stream.Wrong, ValueError, KeyError, IndexError) as e:
        trouble.append('%s: %s' % (path, e if isinstance(e, stream.Wrong)
                                   else repr(e)))


def check_sdt(path, want):
    objs = parse_elf(path)
    h = objs[0].head
    need((h['class'], h['machine']) == (want['class'],
                                        MACHINES[want['machine']]), 'head')
    n, nargs = sdtcheck.compare(objs, want, elfsyms.Functions(path))
    Count.sites += n
    Count.args += nargs


def main():
    corpus = sys.argv[1] if len(sys.argv) > 1 else \
        os.path.join(stream.SHARED, 'corpus')
    if not os.path.isdir(corpus):
        stream.absent('no corpus at %s' % corpus)
    trouble, elfs, bare, sdt = [], 0, 0, 0
    for f in sorted(glob.glob(corpus + '/**/*.expect.json', recursive=True)):
        want = json.load(open(f))
        path = f[:-len('.expect.json')]
        if not os.path.exists(path):
            path += '.dof'
        is_elf = 'section' in want
        elfs, bare = elfs + is_elf, bare + (not is_elf)
        guard(trouble, path, lambda: (check_elf if is_elf else
                                      check_bare)(path, want))
    for f in sorted(glob.glob(corpus + '/sdt/*.sdt.json')):
        path, sdt = f[:-len('.sdt.json')], sdt + 1
        guard(trouble, path, lambda: check_sdt(path, json.load(open(f))))
    check_verdicts(corpus, trouble)
    strings = []
    guard(trouble, 'real.args.json', lambda: strings.append(
        sdtcheck.real_args(SCHEMA, corpus + '/sdt/real.args.json')))
    for t in trouble:
        print(t)
    print('corpus: %d files (%d ELF and %d bare with DOF, %d with notes, %d '
          'malformed), %d probes, %d sites, %d arguments, %d relocations, '
          '%s %s' % (
              Count.files, elfs, bare, sdt, Count.bad, Count.probes,
              Count.sites, Count.args, Count.relocs,
              '%d argument strings with %d arguments' % strings[0]
              if strings else 'no argument strings',
              '%d WRONG' % len(trouble) if trouble else 'ok'))
    enough = elfs >= 95 and bare >= 64 and sdt >= 35 and Count.bad >= 86 \
        and (trouble or (Count.sites >= 4300 and Count.args >= 950 and
                         strings[0][1] >= 650))
    if not enough:
        print('corpus: less was compared than there should be')
    return 1 if trouble or not enough else 0


if __name__ == '__main__':
    sys.exit(main())
