# SPDX-License-Identifier: MIT
"""The picture of bench/results/*/breadth.csv: the share of the ideal of every choice of arguments."""
LEFT, RIGHT, HEAD, ROW = 250, 930, 92, 26
FULL = 1.1  # of the ideal, at the right end
LARGE, SMALL = "#2c6fbb", "#9a9a9a"

# What a row holds: the first whose words the case begins with.
KINDS = [
    ("scan backward", "scan_backward"),
    ("scan with a total in 64 bits", "scan_exclusive_total"),
    ("scan into a wider type", "scan_widening"),
    ("scan", "scan"),
    ("reduce", "reduce"),
    ("argmin, argmax", "arg"),
    ("segments by offsets", "segmented"),
    ("segments by flags", "flagged"),
    ("segments by keys", "by_key"),
    ("rows", "rows"),
    ("compaction by comparison", "compact_if"),
    ("compaction by flags", "compact_of"),
    ("positions of flags", "indices"),
    ("partition", "partition"),
    ("gather of neighbours", "gather"),
    ("scatter to neighbours", "scatter"),
    ("fields of records", "field"),
    ("fill", "fill"),
    ("sequences", "iota"),
    ("intervals", "intervals"),
    ("expand", "expand"),
    ("bounds of sorted needles", "lower_bound"),
    ("row pointers of rows in any order", "row_pointers_unsorted"),
    ("row pointers of rows in order", "row_pointers"),
    ("rows of entries", "csr_to_coo"),
    ("coordinates to CSR", "coo_to_csr"),
    ("entries by value", "csr_filter"),
    ("segments and places of items", "balance_ranks"),
]


def kind_of(case):
    for what, start in KINDS:
        if case.startswith(start):
            return what
    raise SystemExit(f"tools/breadth_picture.py: no row for the case {case}")


def x_of(share):
    return LEFT + min(share, FULL) / FULL * (RIGHT - LEFT)


def text(x, y, anchor, colour, what, size=12):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" font-size="{size}">{what}</text>'


def dots(rows, y, out):
    """A dot for each choice, those of large arrays above those of 2^20 items."""
    for r in sorted(rows, key=lambda r: float(r["memcpy_ratio"])):
        large = int(r["n"]) != 1 << 20  # records may be fewer
        out.append(f'<circle cx="{x_of(float(r["memcpy_ratio"])):.1f}" cy="{y - 5 if large else y + 5}" r="2.6" '
                   f'fill="{LARGE if large else SMALL}" fill-opacity="0.45"/>')


def picture(machines):
    """machines: name and rows of a result file, each."""
    body, y = [], HEAD
    for name, rows in machines:
        rows = [r for r in rows if r["impl"] == "gp" and r["memcpy_ratio"]]
        body.append(text(20, y + 4, "start", "#111111", f"{name}, {len(rows)} choices", 13))
        for what, _ in KINDS:
            of_kind = [r for r in rows if kind_of(r["case"]) == what]
            if of_kind:
                y += ROW
                body.append(text(LEFT - 12, y + 4, "end", "#333333", f"{what} ({len(of_kind)})"))
                dots(of_kind, y, body)
        y += ROW * 1.6
    bottom = y - ROW * 0.8
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {RIGHT + 40} {bottom + 34:.0f}" '
           f'width="{RIGHT + 40}" height="{bottom + 34:.0f}" font-family="sans-serif">',
           '<rect width="100%" height="100%" fill="#ffffff"/>',
           text(20, 28, "start", "#111111", "Share of the ideal over all arguments", 17),
           text(20, 48, "start", "#555555", "a dot for each dtype, operator, kind and segment length: the rate over that of a "
                                            "copy (reductions: of reading) in the same run"),
           text(20, 66, "start", LARGE, "blue: large arrays; grey: 2^20 items")]
    for tenths in range(0, 11, 2):
        x = x_of(tenths / 10)
        colour = "#333333" if tenths == 10 else "#e4e4e4"
        out.append(f'<line x1="{x:.1f}" y1="{HEAD}" x2="{x:.1f}" y2="{bottom:.1f}" stroke="{colour}"/>')
        out.append(text(x, bottom + 16, "middle", "#333333", f"{tenths / 10:g}"))
    return "\n".join(out + body + ["</svg>"]) + "\n"
