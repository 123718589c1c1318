# SPDX-License-Identifier: BSD-2-Clause
"""A slow second reader of the record stream, for tests.

The binary form is decoded with what schema/records.def and enums.def say,
the NDJSON form with a JSON parser; invariants() compares the two and checks
what every stream of dofparse must keep.  Nothing of the library is used.
"""
import json
import os
import re
import struct
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
BIN = os.path.join(ROOT, os.environ.get('BIN', 'build/release'))
SHARED = os.path.join(ROOT, os.environ.get('DOFPIPE_SHARED', '../shared'))
M64 = (1 << 64) - 1
NO_ID = 0xffffffff
MAGIC = 0x0065706970666f64
COUNTED = ('segment', 'symbol', 'elfrel', 'rawdof', 'rawnote', 'dof',
           'provider', 'probe', 'site', 'arg', 'reloc', 'helper', 'error')


class Wrong(Exception):
    """the stream breaks a rule"""


def need(ok, what, *args):
    if not ok:
        raise Wrong(what % args if args else what)


def absent(what):
    """A missing part: a skip, or a failure when it is asked for."""
    import sys
    required = 'corpus' in os.environ.get('DOFPIPE_REQUIRE', '').split(',')
    print('%s: %s' % ('failed' if required else 'skipped', what))
    sys.exit(1 if required else 0)


# --- programs ------------------------------------------------------------

class Result:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err


def run(args, data=b'', timeout=120):
    """One of the programs on `data`; args[0] is its name."""
    p = subprocess.run([os.path.join(BIN, args[0])] + list(args[1:]),
                       input=data, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, timeout=timeout)
    return Result(p.returncode, p.stdout, p.stderr)


# --- binary form ---------------------------------------------------------

FIXED = {'U8': 'B', 'U16': 'H', 'U32': 'I', 'N64': 'Q', 'S64': 'q',
         'X32': 'I', 'X64': 'Q', 'BOOL': 'B', 'ENUM': 'B'}


def load_enums(path):
    words = {}
    for m in re.finditer(r'^WORD\((\w+), \w+, "([^"]*)"\)',
                         open(path).read(), re.M):
        words.setdefault(m.group(1), []).append(m.group(2))
    return words


class Schema:
    """Records by number: (name, version, fixed struct, fields)."""

    def __init__(self, folder=os.path.join(ROOT, 'schema')):
        self.words = load_enums(os.path.join(folder, 'enums.def'))
        self.records = {}
        text = open(os.path.join(folder, 'records.def')).read()
        text = re.sub(r'/\*.*?\*/', '', text, flags=re.S)
        for m in re.finditer(r'^RECORD\(\w+, (\w+), (\d+), (\d+),.*?$(.*?)'
                             r'^ENDRECORD', text, re.M | re.S):
            fields = [tuple(x for x in f if x) for f in re.findall(
                r'^(\w+)\(%s, (\w+)(?:, (\w+))?, "' % m.group(1),
                m.group(4), re.M)]
            fixed = '<' + ''.join(FIXED.get(f[0], '') for f in fields)
            self.records[int(m.group(2))] = (
                m.group(1), int(m.group(3)), struct.Struct(fixed), fields)
        need(len(self.records) >= 17, 'records.def was not understood')

    def blank(self, name):
        """A record as NDJSON has it, nothing in it."""
        fields, = (r[3] for r in self.records.values() if r[0] == name)
        out = {'type': name}
        for f in fields:
            out[f[1]] = {'X32': '0x0', 'X64': '0x0', 'BOOL': False, 'STR': '',
                         'BYTES': '', 'STRS': [], 'U8S': []}.get(f[0], 0)
            if f[0] == 'ENUM':
                out[f[1]] = self.words[f[2]][0]
        return out

    def value(self, field, raw):
        if field[0] == 'BOOL':
            need(raw < 2, '%s is not 0 or 1', field[1])
            return bool(raw)
        if field[0] == 'ENUM':
            need(raw < len(self.words[field[2]]), '%s: no word', field[1])
            return self.words[field[2]][raw]
        return raw

    def decode(self, kind, body):
        name, _, fixed, fields = self.records[kind]
        out, at = {'type': name}, fixed.size
        raw = iter(fixed.unpack_from(body))
        for f in fields:
            if f[0] in FIXED:
                out[f[1]] = self.value(f, next(raw))
                continue
            count = None
            if f[0] == 'STRS':
                count, = struct.unpack_from('<I', body, at)
                at += 4
            n, = struct.unpack_from('<I', body, at)
            at += 4
            need(at + n <= len(body), '%s: %s outside', name, f[1])
            b = bytes(body[at:at + n])
            at += n
            if count is not None:
                need(b.count(b'\0') == count and b[-1:] in (b'', b'\0'),
                     '%s: %s is not %d strings', name, f[1], count)
                b = b.split(b'\0')[:-1]
            out[f[1]] = list(b) if f[0] == 'U8S' else b
        need(len(body) - at < 8 and not any(body[at:]),
             '%s: padding', name)
        return out


def frames(data):
    """(offset, type, version, body) of each record; the last must be whole."""
    at = 0
    while at < len(data):
        need(len(data) - at >= 8, 'part of a record header at the end')
        size, kind, version = struct.unpack_from('<IHH', data, at)
        need(size >= 8 and size % 8 == 0, 'record size %d', size)
        need(size <= len(data) - at, 'record cut')
        yield at, kind, version, memoryview(data)[at + 8:at + size]
        at += size


# --- NDJSON form ---------------------------------------------------------

def number(v):
    if isinstance(v, str):
        need(re.fullmatch('0x[0-9a-f]{1,16}', v), 'number %r', v)
        return int(v, 16)
    return v


def from_json(schema, by_name, line):
    """A line in the shape of Schema.decode()."""
    j = json.loads(line)
    name, _, _, fields = schema.records[by_name[j['type']]]
    keys = [k for k in j if not k.endswith('_hex')]
    need(keys == ['type'] + [f[1] for f in fields],
         '%s: keys %s', name, keys)
    out = {'type': name}
    for f in fields:
        v = j[f[1]]
        if f[0] in ('X64', 'X32'):
            need(isinstance(v, str), '%s is not a string', f[1])
            v = number(v)
        elif f[0] in ('N64', 'S64'):
            need(isinstance(v, str) == (abs(number(v)) > 1 << 53) or
                 f[0] == 'S64', '%s: %r', f[1], v)
            v = number(v)
            if f[0] == 'S64' and isinstance(j[f[1]], str) and v >> 63:
                v -= 1 << 64
        elif f[0] == 'BYTES':
            v = bytes.fromhex(v)
        elif f[0] == 'STR':
            v = bytes.fromhex(j[f[1] + '_hex']) if f[1] + '_hex' in j \
                else v.encode()
        elif f[0] == 'STRS':
            v = [bytes.fromhex(x) for x in j[f[1] + '_hex']] \
                if f[1] + '_hex' in j else [s.encode() for s in v]
        out[f[1]] = v
    return out


class Stream:
    """A whole stream of one producer, from its two forms."""

    def __init__(self, schema, binary, text):
        self.records = []   # dicts
        self.at = []        # offsets in the binary form
        self.binary = binary
        by_name = {r[0]: k for k, r in schema.records.items()}
        for at, kind, version, body in frames(binary):
            need(kind in schema.records, 'record type %d', kind)
            need(version == schema.records[kind][1], 'version %d', version)
            self.records.append(schema.decode(kind, body))
            self.at.append(at)
        lines = text.splitlines()
        need(len(lines) == len(self.records), '%d lines, %d records',
             len(lines), len(self.records))
        for line, rec in zip(lines, self.records):
            j = from_json(schema, by_name, line)
            need(j == rec, 'JSON %r\nbinary %r', j, rec)


# --- what every stream keeps ---------------------------------------------

class Object:
    """The records of one object, by id where they have one."""

    def __init__(self, start):
        self.start = start
        self.count = dict.fromkeys(COUNTED, 0)
        self.lists = {k: [] for k in COUNTED}
        self.head = None
        self.places = {}    # id() of a record: offset


def objects(stream, cut=False):
    """The objects of a stream, with the frame around them checked.

    cut: an input was cut, so that the output may have no end.
    """
    recs, out, cur = stream.records, [], None
    need(recs and recs[0]['type'] == 'header', 'no header')
    need(recs[0]['magic'] == MAGIC and recs[0]['v'] == 1, 'header')
    for at, r in zip(stream.at, recs):
        t = r['type']
        if t == 'object':
            need(cur is None, 'object in an object')
            cur = Object(at)
            cur.head = r
        elif t == 'object_end':
            need(cur is not None, 'object_end without object')
            for k in COUNTED:
                need(r[k + 's'] == cur.count[k], 'object_end: %ss %d, not %d',
                     k, r[k + 's'], cur.count[k])
            out.append(cur)
            cur = None
        elif t in COUNTED:
            need(cur is not None or t == 'error', '%s outside', t)
            if cur is None:
                continue
            cur.places[id(r)] = at
            cur.count[t] += 1
            cur.lists[t].append(r)
    need(cur is None, 'object without end')
    if cut and recs[-1]['type'] != 'end':
        return out
    need(recs[-1]['type'] == 'end', 'no end')
    need(recs[-1]['objects'] == len(out), 'end: objects')
    need(recs[-1]['records'] == len(recs), 'end: records')
    return out


def refs(obj):
    """(record kind, record, field, first reloc, count, must have one)"""
    dof = {p['id'] for p in obj.lists['provider'] if p['source'] == 'dof'}
    of_dof = {p['id'] for p in obj.lists['probe'] if p['provider'] in dof}
    used = {s['probe'] for s in obj.lists['site']}
    for p in obj.lists['probe']:
        yield ('probe', p, 'addr', p['reloc'], p['nreloc'],
               p['id'] in of_dof and p['id'] in used)
    for s in obj.lists['site']:
        # a DOF's site counts from its probe's address and shares its relocs
        kind = 'probe' if s['probe'] in of_dof else 'site'
        yield kind, s, 'addr', s['reloc'], s['nreloc'], True
        yield ('site', s, 'sem', s['sem_reloc'], s['sem_nreloc'],
               s['sem'] != 0)
    for a in obj.lists['arg']:
        yield ('arg', a, 'symbol_value', a['reloc'], a['nreloc'],
               a['symbol_found'])


def check_ref(stream, obj, ref):
    kind, rec, field, first, n, must = ref
    relocs = obj.lists['reloc']
    need(n > 0 or not must, '%s %s without reloc: %r', kind, field, rec)
    need(n == 0 or first + n <= len(relocs), 'reloc %d of %d', first + n,
         len(relocs))
    for r in relocs[first:first + n]:
        owner = rec
        if kind == 'probe' and rec['type'] == 'site':
            owner = obj.lists['probe'][rec['probe']]
        want = owner['site'] if kind == 'arg' else owner['id']
        need((r['rec'], r['field'], r['rec_id']) == (kind, field, want),
             'reloc %r is not of %r', r, owner)
        need(kind != 'arg' or r['arg'] == rec['index'], 'reloc: arg')
        at = obj.start + r['pos']
        place = obj.places[id(owner)]
        size, = struct.unpack_from('<I', stream.binary, place)
        need(place + 8 <= at <= place + size - 8, 'pos %d outside %r',
             r['pos'], owner)
        word, = struct.unpack_from('<Q', stream.binary, at)
        need(word == owner[field], 'pos %d: 0x%x, field %s 0x%x', r['pos'],
             word, field, owner[field])
    return n


def dof_word(dof, sec, off, width):
    """The word at `off` of a section of a raw DOF."""
    raw, e = dof['raw'], '<' if dof['order'] == 'lsb' else '>'
    secsize, _, secoff = struct.unpack_from(e + 'IIQ', raw, 24)
    start, = struct.unpack_from(e + 'Q', raw, secoff + sec * secsize + 16)
    return struct.unpack_from(e + ('Q' if width == 8 else 'I'), raw,
                              start + off)[0]


def ids_are_dense(obj):
    for k in ('dof', 'provider', 'probe', 'site', 'reloc'):
        need([r['id'] for r in obj.lists[k]] == list(range(obj.count[k])),
             '%s ids', k)
    for r in obj.lists['probe']:
        need(r['provider'] < obj.count['provider'], 'probe: provider')
        need(len(r['map']) == len(r['translated']), 'probe: map')
        need(all(m < len(r['native']) for m in r['map']), 'probe: map')
    for r in obj.lists['provider']:
        need((r['dof'] == NO_ID) == (r['source'] != 'dof') and
             (r['dof'] == NO_ID or r['dof'] < obj.count['dof']),
             'provider: dof')
    for r in obj.lists['site']:
        need(r['probe'] < obj.count['probe'], 'site: probe')
        need(r['attachable'] == (r['why'] == b''), 'site: why %r', r)
        n = [a['index'] for a in obj.lists['arg'] if a['site'] == r['id']] \
            if obj.count['arg'] < 2000 else None
        need(n is None or n == list(range(r['nargs'])), 'site: nargs')


def invariants(stream, cut=False):
    """Check the rules; the objects and how many relocs were checked."""
    objs, total = objects(stream, cut), 0
    for o in objs:
        ids_are_dense(o)
        seen = set()
        for ref in refs(o):
            total += check_ref(stream, o, ref)
            seen.update(range(ref[3], ref[3] + ref[4]))
        need(seen == set(range(o.count['reloc'])), 'reloc of nobody')
        for r in o.lists['reloc']:
            if r['dof'] == NO_ID:
                need(r['dof_sec'] == NO_ID, 'reloc: dof_sec')
                continue
            w = dof_word(o.lists['dof'][r['dof']], r['dof_sec'],
                         r['dof_off'], 8)
            need(w == r['in_place'], 'in_place 0x%x, DOF has 0x%x',
                 r['in_place'], w)
    return objs, total


# --- addresses -----------------------------------------------------------

def resolve(obj, value, first, n, bias=0, dof=0):
    """The rule of records.def: add to what the file has, wrap at the end."""
    for r in obj.lists['reloc'][first:first + n]:
        if r['state'] != 'pending':
            continue
        if r['replaces']:
            value -= r['in_place']
        value += r['sym_value'] + r['addend']
        value += {'none': 0, 'bias': bias, 'dof': dof}[r['base']]
    small = obj.head['class'] == 32 or any(
        d['model'] == 'ilp32' for d in obj.lists['dof'])
    return value & (M64 >> 32 if small else M64)


def file_offset(obj, vaddr):
    for s in obj.lists['segment']:
        if s['p_type'] == 1 and s['vaddr'] <= vaddr < s['vaddr'] + s['filesz']:
            return vaddr - s['vaddr'] + s['fileoff']
    return None
