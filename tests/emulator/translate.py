#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Device code as C++ for the emulator: launches, inline PTX and dynamic shared memory become calls of emulator.h.

    translate.py FROM TO    every .cu, .cuh and .h below FROM goes to the same place below TO
"""
import os
import re
import sys

def nested(text, start=0):
    """Places and characters of text outside strings, and the depth in parentheses behind each."""
    depth, at = 0, start
    while at < len(text):
        c = text[at]
        if c == '"':
            at = re.compile(r'"(?:\\.|[^"\\])*"').match(text, at).end()
            continue
        depth += (c in "([{") - (c in ")]}")
        yield at, c, depth
        at += 1


def matching(text, start):
    """Where the parenthesis at start is closed."""
    return next(at for at, c, depth in nested(text, start) if depth == 0 and c in ")]}")


def split(text, separator):
    """At the separators that are in no parentheses or strings; a colon of a name in a namespace is none."""
    ends = [at for at, c, depth in nested(text) if c == separator and depth == 0]
    name = re.compile(r"\w::|::\w")
    ends = [at for at in ends if separator != ":" or not any(name.match(text, at - k) for k in (0, 1, 2) if at >= k)]
    return [text[a:b] for a, b in zip([0] + [at + 1 for at in ends], ends + [len(text)])]


def ptx_name(template):
    """mbarrier.init.shared.b64 [%0], %1; is ptx_mbarrier_init_shared_b64; several instructions are joined."""
    names = []
    for line in re.split(r"[;{}]|\\n|\\t", template):
        line = re.sub(r"^\s*@!?\w+\s+|^\s*\w+:\s*", "", line.strip()).strip()
        words = line.split()
        if words and line[0].isalpha() and not line.endswith(":"):
            name = re.sub(r"\W+", "_", words[0])
            if words[0] == "bar.sync" and not words[1].startswith("%"):
                name += "_" + words[1].rstrip(",")
            names.append(name)
    return "ptx_" + "_then_".join(names)


def inline_ptx(match_text):
    parts = split(match_text, ":")
    template = "".join(re.findall(r'"((?:\\.|[^"\\])*)"', parts[0]))
    operands = []
    for section in parts[1:3]:
        for operand in split(section, ","):
            if operand.strip():
                inside = operand[operand.index("(") :]
                operands.append(inside[1 : matching(inside, 0)])
    if not template.strip():
        return "((void)0)"
    return "emulator::%s(%s)" % (ptx_name(template), ", ".join(operands))


def translated(text):
    out, at = [], 0
    for m in re.finditer(r"\basm\b\s*(?:volatile)?\s*\(", text):
        if m.start() < at or text[: m.start()].rfind("/*") > text[: m.start()].rfind("*/"):
            continue
        end = matching(text, m.end() - 1)
        out += [text[at : m.start()], inline_ptx(text[m.end() : end])]
        at = end + 1
    text = "".join(out) + text[at:]
    text = re.sub(r"extern\s+__shared__\s+(?:__align__\(\d+\)\s+)?(\w+)\s+(\w+)\[\];",
                  r"\1 *const \2 = (\1 *)emulator::dynamic_shared();", text)
    text = text.replace("(const void *)kernel", "emulator::known(kernel)")
    # kernel<arguments><<<grid, threads, bytes, stream>>>(..)
    while "<<<" in text:
        at = text.index("<<<")
        end = text.index(">>>", at)
        begin, depth = len(text[:at].rstrip()), 0
        after = begin
        while begin > 0:
            c = text[begin - 1]
            if c == ">":
                depth += 1
            elif c == "<":
                depth -= 1
            elif depth == 0 and not (c.isalnum() or c in "_:"):
                break
            begin -= 1
        kernel = text[begin:after]
        call = f"emulator::Launch({text[at + 3 : end]}).of([=](auto &...a) {{ {kernel}(a...); }}, "
        text = text[:begin] + " " + call + text[end + 3 :].lstrip()[1:]
    return text


def main():
    source, target = sys.argv[1:]
    for folder, _, files in os.walk(source):
        for name in files:
            if name.endswith((".cu", ".cuh", ".h")):
                path = os.path.join(folder, name)
                to = os.path.join(target, os.path.relpath(path, source))
                os.makedirs(os.path.dirname(to), exist_ok=True)
                text = translated(open(path).read())
                if not os.path.exists(to) or open(to).read() != text:
                    open(to, "w").write(text)


if __name__ == "__main__":
    main()
