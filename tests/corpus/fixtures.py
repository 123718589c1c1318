#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Every fixture of tests/data against what its own comment says.

`#=` lines are the sites that must be found, `#!` lines the errors that must
be reported, `#?` lines sites that may be found; tests/data/README.md defines
them.
"""
import glob
import json
import os
import re
import subprocess
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
BIN = os.environ.get("BIN", os.path.join(TOP, "build", "release"))
MASK = (1 << 64) - 1


def spell(text):
    """A string out of NDJSON's bytes, the way the comments spell it."""
    return "".join(
        chr(b) if 0x21 <= b <= 0x7E and b != 0x5C else "\\x%02x" % b
        for b in text
    )


def raw(rec, key):
    if key + "_hex" in rec:
        return bytes.fromhex(rec[key + "_hex"])
    return rec[key].encode()


def types(rec, key):
    if key + "_hex" in rec:
        return bytes.fromhex(rec[key + "_hex"]).split(b"\0")[:-1]
    return [t.encode() for t in rec[key]]


def number(v):
    return v if isinstance(v, int) else int(v, 16)


class Object:
    def __init__(self, rec):
        self.rec = rec
        self.dofs, self.providers, self.probes = [], [], []
        self.sites, self.relocs = [], []

    def resolve(self, value, first, n):
        for r in self.relocs[first : first + n]:
            if r["state"] != "pending":
                continue
            if r["replaces"]:
                value -= number(r["in_place"])
            value += number(r["sym_value"]) + number(r["addend"])
            if r["base"] == "dof":
                value += number(self.dofs[r["dof"]]["vaddr"])
        return value & (0xFFFFFFFF if self.rec["class"] == 32 else MASK)

    def describe(self, site):
        probe = self.probes[site["probe"]]
        prov = self.providers[probe["provider"]]
        addr = self.resolve(number(site["addr"]), site["reloc"], site["nreloc"])
        text = "%s:%s:%s %s 0x%x" % (
            spell(raw(prov, "name")),
            spell(raw(probe, "function")),
            spell(raw(probe, "name")),
            site["kind"],
            addr,
        )
        if site["sem_nreloc"]:
            text += ";0x%x" % self.resolve(
                number(site["sem"]), site["sem_reloc"], site["sem_nreloc"]
            )
        args = self.args(site, probe, prov)
        return text + (" " + args if args else "")

    @staticmethod
    def args(site, probe, prov):
        if prov["source"] != "dof":
            return raw(site, "args").decode("latin-1").rstrip(" ")
        native = types(probe, "native")
        xlated = types(probe, "translated")
        if not native and not xlated:
            return ""
        return "(%s) -> (%s)" % (
            ", ".join(t.decode("latin-1") for t in native),
            ", ".join(
                "%s[%d]" % (t.decode("latin-1"), m)
                for t, m in zip(xlated, probe["map"])
            ),
        )


def run(path):
    """Sites, errors and exit status of the pipeline over one file."""
    ext = subprocess.run(
        [os.path.join(BIN, "dofextract"), path],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
    )
    par = subprocess.run(
        [os.path.join(BIN, "dofparse"), "--json"],
        input=ext.stdout, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        check=False,
    )
    objs, errors, obj = [], [], None
    for line in par.stdout.splitlines():
        rec = json.loads(line)
        kind = rec["type"]
        if kind == "object":
            obj = Object(rec)
            objs.append(obj)
        elif kind == "error":
            errors.append(rec)
        elif kind in ("dof", "provider", "probe", "site", "reloc"):
            getattr(obj, kind + "s").append(rec)
    sites = [o.describe(s) for o in objs for s in o.sites]
    talk = [t for t in (ext.stderr + par.stderr).decode("latin-1").splitlines()
            if not t.endswith(" of dofextract in the input")]
    return sites, errors, talk, ext.returncode, par.returncode


def wanted(text):
    must, may, bad = [], [], []
    for line in text.splitlines():
        if line.startswith("#= "):
            must.append(line[3:].strip())
        elif line.startswith("#? "):
            may.append(line[3:].strip())
        elif line.startswith("#! "):
            bad.append(line[3:].split())
    return must, may, bad


def check_error(want, errors):
    code, at, reach = want[:3]
    for e in errors:
        if e["code"] != code or e["reach"] != reach:
            continue
        if at == "-" or number(e["offset"]) == int(at, 16):
            return True
    return False


def main():
    data = os.path.join(TOP, "tests", "data")
    fails = nsites = nerrors = 0
    texts = sorted(glob.glob(os.path.join(data, "*.txt")))
    for txt in texts:
        name = os.path.basename(txt)[:-4]
        with open(txt, encoding="latin-1") as f:
            must, may, bad = wanted(f.read())
        sites, errors, talk, st1, st2 = run(
            os.path.join(BIN, "fixtures", name + ".bin")
        )
        out = []
        left = list(sites)
        for s in must:
            if s in left:
                left.remove(s)
            else:
                out.append("missing: " + s)
        out += ["not expected: " + s for s in left if s not in may]
        if not may:
            out += ["no error: " + " ".join(b) for b in bad
                    if not check_error(b, errors)]
            if not bad:
                out += ["error: %s" % e for e in errors]
            if max(st1, st2) != (2 if bad else 0 if must else 1):
                out.append("exit statuses %d, %d" % (st1, st2))
            if len(talk) != len(errors):
                out.append("%d messages for %d errors" % (len(talk), len(errors)))
        out += ["message: " + t for t in talk
                if not re.match(r"(dofextract|dofparse): .+: ", t)]
        if out:
            fails += 1
            print("%s:\n  %s" % (name, "\n  ".join(out)))
            for e in errors:
                print("    got: %s %s %s %s" % (e["code"], e["offset"],
                                              e["reach"], e["message"]))
        nsites += len(must)
        nerrors += len(bad)
    print("fixtures: %d files, %d sites, %d errors, %d files wrong"
          % (len(texts), nsites, nerrors, fails))
    return 1 if fails or len(texts) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
