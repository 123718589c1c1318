# SPDX-License-Identifier: BSD-2-Clause
"""Compare notes, as X.sdt.json and real.args.json have them."""
import json
import struct

import stream
from stream import need

NULLABLE = ('base', 'index', 'symbol', 'modifier', 'segment')
SYMS = 0x500000     # where the symbols of real_args() lie


def operand(obj, arg, want):
    """An arg record against `parsed`."""
    got = {'text': arg['text'], 'size': arg['size'],
           'signed': arg['is_signed'], 'float': arg['is_float'],
           'kind': arg['kind'], 'base': arg['base'],
           'index': arg['index_reg'], 'scale': arg['scale'],
           'disp': arg['disp'], 'symbol': arg['symbol'],
           'modifier': arg['modifier'], 'segment': arg['segment']}
    exp = {k: want[k] for k in got}
    for k in NULLABLE:
        exp[k] = exp[k] or ''
    for k in NULLABLE + ('text',):
        exp[k] = exp[k].encode()
    need(got == exp, 'argument\ngot  %r\nwant %r', got, exp)
    need(arg['partial'] == want.get('partial', False), 'partial: %r', arg)
    need((arg['kind'] == 'unreadable') == (arg['why'] != b''),
         'unreadable and why: %r', arg)
    if obj is None:
        return
    need(arg['symbol_found'] == ('symbol_value' in want),
         'symbol_found: %r, want %r', arg, want)
    if 'tp_offset' in want:
        need(arg['tp_offset'] == want['tp_offset'], 'tp_offset: %r', arg)
    elif 'symbol_value' in want:
        v = stream.resolve(obj, arg['symbol_value'], arg['reloc'],
                           arg['nreloc'])
        need(v == want['symbol_value'], 'symbol_value 0x%x: %r', v, want)


def compare(objs, want, functions):
    """All notes of one file; the number of sites and of arguments."""
    need(len(objs) == 1, '%d objects', len(objs))
    o, nargs = objs[0], 0
    probes, provs = o.lists['probe'], o.lists['provider']
    args = {}
    for a in o.lists['arg']:
        args.setdefault(a['site'], []).append(a)
    sites = []
    for s in o.lists['site']:
        pc = stream.resolve(o, s['addr'], s['reloc'], s['nreloc'])
        prov = provs[probes[s['probe']]['provider']]
        need(prov['source'] == 'stapsdt', 'source %s', prov['source'])
        sites.append((pc, prov['name'].decode(),
                      probes[s['probe']]['name'].decode(), s))
    sites.sort(key=lambda x: x[:3])
    notes = sorted(want['notes'], key=lambda n: (
        n.get('pc', n.get('offset')), n['provider'], n['name']))
    need(len(sites) == len(notes), '%d sites, %d notes', len(sites),
         len(notes))
    for (pc, prov, name, s), n in zip(sites, notes):
        need((prov, name) == (n['provider'], n['name']), '%s:%s at 0x%x',
             prov, name, pc)
        need(s['args'] == n['args'].encode(), 'args %r', s['args'])
        got = sorted(args.get(s['id'], []), key=lambda a: a['index'])
        need(len(got) == len(n['parsed']) == s['nargs'], 'arguments')
        for a, p in zip(got, n['parsed']):
            operand(o if 'note' in n else None, a, p)
            nargs += 1
        section = place(o, pc, s, n)
        names = functions.around(pc, section)
        f = probes[s['probe']]['function']
        need(f in names if names else f == b'',
             '%s:%s in %r, the symbols say %r', prov, name, f, names)
    return len(notes), nargs


def place(o, pc, s, n):
    """Addresses of a site; the section index in a relocatable object."""
    if 'note' not in n:
        r = [x for x in o.lists['reloc'][s['reloc']:][:s['nreloc']]]
        need(len(r) == 1 and r[0]['kind'] == 'elf-symbol' and
             r[0]['symbol'] == n['section'].encode() and r[0]['replaces'] and
             r[0]['base'] == 'none', 'relocs of a .o: %r', r)
        need(pc == n['offset'], 'offset 0x%x, want 0x%x', pc, n['offset'])
        need(not s['attachable'] and s['sem'] == 0, 'site of a .o')
        return None
    need(s['stored'] == n['note']['pc'], 'stored 0x%x', s['stored'])
    need(s['sem'] == n['note']['semaphore'], 'sem 0x%x', s['sem'])
    need(pc == n['pc'], 'pc 0x%x, want 0x%x', pc, n['pc'])
    need(stream.file_offset(o, pc) == n['pc_file_offset'], 'pc file offset')
    need(s['attachable'], 'not attachable: %r', s['why'])
    if n['semaphore'] == 0:
        need(s['sem_nreloc'] == 0, 'relocs of no semaphore')
        return None
    sem = stream.resolve(o, s['sem'], s['sem_reloc'], s['sem_nreloc'])
    need(sem == n['semaphore'], 'semaphore 0x%x, want 0x%x', sem,
         n['semaphore'])
    need(stream.file_offset(o, sem) == n['semaphore_file_offset'],
         'semaphore file offset')
    return None


def real_args(schema, path):
    """Argument strings of published programs, as notes made of NDJSON."""
    want = json.load(open(path))
    lines = ['{"type":"header","magic":"0x%x","v":1,"stage":"extract",'
             '"producer":"test","producer_version":"0"}' % stream.MAGIC]
    obj = schema.blank('object')
    obj.update({'machine': 62, 'e_type': 3, 'class': 64, 'format': 'elf',
                'order': 'lsb', 'origin': 'file', 'path': 'real'})
    lines.append(json.dumps(obj))
    symbols = sorted({p['symbol'] for s in want['strings']
                      for p in s['parsed'] if p['symbol']})
    for i, name in enumerate(symbols):
        sym = schema.blank('symbol')
        sym.update({'name': name, 'kind': 'object', 'value': hex(SYMS + i)})
        lines.append(json.dumps(sym))
    for i, s in enumerate(want['strings']):
        desc = struct.pack('<QQQ', 0x1000 + i, 0x9000, 0)
        desc += b'p\0n\0' + s['args'].encode() + b'\0'
        lines.append(json.dumps({
            'type': 'rawnote', 'fileoff': '0x%x' % (i * 512),
            'base': '0x9000', 'note_type': 3, 'desc_off': 20,
            'has_base': True, 'section': '.note.stapsdt',
            'owner': 'stapsdt', 'desc': desc.hex()}))
    n = len(want['strings'])
    end = schema.blank('object_end')
    end.update({'rawnotes': n, 'symbols': len(symbols)})
    lines.append(json.dumps(end))
    lines.append('{"type":"end","objects":1,"records":%d}' %
                 (len(lines) + 1))
    data = ('\n'.join(lines) + '\n').encode()
    a = stream.run(['dofparse'], data)
    b = stream.run(['dofparse', '--json'], data)
    need(a.status == b.status == 0, 'status %d: %r', a.status, a.err[:300])
    objs, _ = stream.invariants(stream.Stream(schema, a.out, b.out))
    args = {}
    for x in objs[0].lists['arg']:
        args.setdefault(x['site'], []).append(x)
    need(objs[0].count['site'] == n, '%d of %d strings',
         objs[0].count['site'], n)
    total = 0
    for site, s in zip(objs[0].lists['site'], want['strings']):
        need(site['stored'] == 0x1000 + site['id'], 'order of the notes')
        got = args.get(site['id'], [])
        need(len(got) == len(s['parsed']), '%r: %d arguments', s['args'],
             len(got))
        for x, p in zip(got, s['parsed']):
            if p['symbol']:
                p['symbol_value'] = SYMS + symbols.index(p['symbol'])
            operand(objs[0], x, p)
            total += 1
    return n, total
