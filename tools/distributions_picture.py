# SPDX-License-Identifier: MIT
"""The tables and the picture of docs/distributions.md: sorts of keys as they come, by `gp-bench distributions`."""
import math

CALLS = ("keys", "pairs", "argsort")
# Of gp-bench, in its order; what the page calls them.
SPREADS = [
    ("uniform", "uniform"), ("constant", "all equal"), ("two_values", "two values"), ("few_values", "16 values"),
    ("many_equal", "4096 values"), ("most_equal", "49 of 50 equal"), ("sorted", "sorted"), ("reversed", "reversed"),
    ("almost_sorted", "nearly sorted"), ("runs", "sorted runs"), ("sawtooth", "sawtooth"), ("organ_pipe", "organ pipe"),
    ("entropy_0.544", "entropy 0.544"), ("entropy_0.201", "entropy 0.201"), ("tiles", "tiles"), ("top_byte", "top byte"),
    ("low_20_bits", "low 20 bits"), ("offset", "ids, offset"), ("far_clusters", "far clusters"),
    ("ids", "ids below n"), ("zipf", "Zipf's ids"),
    ("hashed_ids", "hashed Zipf ids"), ("normal_1e3", "normal, a thousand"), ("normal_1e6", "normal, a million"),
    ("normal_wide", "normal, wide"), ("around_zero", "around 0"), ("log_normal", "log-normal"),
    ("timestamps", "time stamps"),
    ("edges", "edges, R-MAT"), ("grid", "edges, grid"), ("pointers", "pointers"), ("kmers", "k-mers"), ("words", "words"),
    ("counts", "counts"), ("addresses", "addresses"), ("morton", "codes of points"), ("unit", "in [0, 1)"),
    ("normal", "normal"), ("exponential", "exponential"), ("prices", "prices"), ("half_zero", "half of them 0"),
    ("latitudes", "latitudes"),
]
TYPES = {4: ("u32", "i32", "f32"), 8: ("u64", "i64", "f64")}
BAR_PEER, BAR_UNIFORM = 1.3, 1.5


class Results:
    """Rows by call, spread, dtype and log2 of n."""

    def __init__(self, rows, column):
        self.seconds, self.peers = {}, {}
        for r in rows:
            call, _, spread = r["case"].partition("_")
            key = call, spread, r["dtype"], int(r["n"]).bit_length() - 1
            if spread[0].isdigit():  # values of other sizes
                continue
            if spread not in dict(SPREADS):
                raise SystemExit(f"tools/distributions_picture.py: no name for the spread {spread}")
            if r["impl"] == "gp":
                self.seconds[key] = float(r[column])
            else:
                self.peers[key] = min(float(r[column]), self.peers.get(key, math.inf))

    def kinds(self, width):
        """Spread, dtype and a name for both, in the order of SPREADS, floats last."""
        found = [(s, d) for d in TYPES[width] for s, _ in SPREADS if any(k[1:3] == (s, d) for k in self.seconds)]
        return [(s, d, f"{d} {dict(SPREADS)[s]}") for s, d in found]

    def over_uniform(self, call, spread, dtype, exponent):
        uniform = self.seconds.get((call, "uniform", "u" + dtype[1:], exponent))
        own = self.seconds.get((call, spread, dtype, exponent))
        return own / uniform if own and uniform else None

    def over_peer(self, call, spread, dtype, exponent):
        key = call, spread, dtype, exponent
        return self.peers[key] / self.seconds[key] if key in self.peers and key in self.seconds else None

    def missed(self, width, exponent):
        """Rows, above the bar beside uniform keys, below the bar beside the peer, below the peer."""
        rows = [(self.over_uniform(c, s, d, exponent), self.over_peer(c, s, d, exponent))
                for s, d, _ in self.kinds(width) for c in CALLS if (c, s, d, exponent) in self.seconds]
        return (len(rows), sum(u > BAR_UNIFORM for u, _ in rows), sum(p < BAR_PEER for _, p in rows),
                sum(p < 1 for _, p in rows))


def number(value, bad):
    text = "" if value is None else f"{value:.2f}"
    return f"**{text}**" if value is not None and bad(value) else text


def peer_table(results, width, exponents):
    """The peer's time over ours, and ours over that of uniform keys."""
    sizes = [(c, e) for c in CALLS[:2] for e in exponents]
    lines = ["| " + " | ".join([f"{width} bytes"] + [f"{c} 2<sup>{e}</sup>" for c, e in sizes]) + " |",
             "|---" + "|--:" * len(sizes) + "|"]
    for spread, dtype, name in results.kinds(width):
        cells = [[number(results.over_peer(c, spread, dtype, e), lambda x: x < 1),
                  number(results.over_uniform(c, spread, dtype, e), lambda x: x > BAR_UNIFORM)] for c, e in sizes]
        lines.append("| " + " | ".join([name] + [", ".join(filter(None, cell)) for cell in cells]) + " |")
    return lines + [""]


def missed_table(results, exponents):
    rows = [results.missed(width, exponents[0])[0] for width in TYPES]
    lines = [f"| rows of {rows[0]} (4 bytes), {rows[1]} (8 bytes) | " + " | ".join(f"2<sup>{e}</sup>" for e in exponents) + " |",
             "|---" + "|--:" * len(exponents) + "|"]
    what = (f"above {BAR_UNIFORM} times the time of uniform keys", f"less than {BAR_PEER} times as fast as CUB",
            "slower than CUB")
    for i, text in enumerate(what):
        counts = [[results.missed(w, e)[i + 1] for w in TYPES] for e in exponents]
        lines.append(f"| {text} | " + " | ".join(", ".join(str(c) for c in each) for each in counts) + " |")
    return lines + [""]


def uniform_table(results, exponents):
    """Without a peer: the time over that of uniform keys."""
    sizes = [(c, e) for c in CALLS for e in exponents]
    lines = ["| | " + " | ".join(f"{c} 2<sup>{e}</sup>" for c, e in sizes) + " |", "|---" + "|--:" * len(sizes) + "|"]
    for width in TYPES:
        for spread, dtype, name in results.kinds(width):
            cells = [number(results.over_uniform(c, spread, dtype, e), lambda x: x > BAR_UNIFORM) for c, e in sizes]
            lines.append("| " + " | ".join([name] + cells) + " |")
    return lines + [""]


def tables(gpu, gpu_exponents, cpu, cpu_exponents):
    lines = missed_table(gpu, [e for e in gpu_exponents if e >= 16])
    for width in TYPES:
        lines += peer_table(gpu, width, [e for e in gpu_exponents if e % 4 == 0 and e >= 12])
    lines += ["The CPU, two threads: the time over that of uniform keys.", ""] + uniform_table(cpu, cpu_exponents)
    return "\n".join(lines[:-1]) + "\n"


# ---- picture ----

LEFT, MIDDLE, RIGHT, GAP, HEAD, ROW = 190, 540, 940, 40, 96, 15
# Least, most, from x, to x: of the peer's time over ours, and of ours over that of uniform keys.
SCALES = (0.5, 8, LEFT, MIDDLE), (0.25, 4, MIDDLE + GAP, RIGHT)
COLOURS = {16: "#f3a712", 18: "#e4572e", 20: "#a8327d", 22: "#5c3c92", 24: "#2c6fbb", 28: "#0b3c5d"}


def x_of(scale, ratio):
    least, most, left, right = scale
    share = math.log2(ratio / least) / math.log2(most / least)
    return left + min(max(share, 0), 1) * (right - left)


def text(x, y, anchor, colour, what, size=12):
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" fill="{colour}" font-size="{size}">{what}</text>'


def dots(results, exponent, places):
    """All rows of one size: points of a path, which has a round end on both sides."""
    at = []
    for (spread, dtype), y in places.items():
        for call in CALLS:
            for scale, of in zip(SCALES, (results.over_peer, results.over_uniform)):
                ratio = of(call, spread, dtype, exponent)
                if ratio:
                    at.append(f"M{x_of(scale, ratio):.0f} {y}h0")
    return (f'<path d="{"".join(at)}" stroke="{COLOURS[exponent]}" stroke-width="5" stroke-linecap="round" '
            'stroke-opacity="0.7"/>')


def rules(bottom):
    out = []
    for scale, bar in zip(SCALES, (BAR_PEER, BAR_UNIFORM)):
        ratios = [2.0 ** e for e in range(int(math.log2(scale[0])), int(math.log2(scale[1])) + 1)]
        for ratio in ratios + [bar]:
            x = x_of(scale, ratio)
            colour = {1: "#333333", bar: "#c0392b"}.get(ratio, "#e4e4e4")
            out.append(f'<line x1="{x:.0f}" y1="{HEAD - 12}" x2="{x:.0f}" y2="{bottom}" stroke="{colour}"/>')
            if ratio != bar:
                out.append(text(x, bottom + 16, "middle", "#333333", f"{ratio:g}"))
    return out


def picture(results, machine):
    body, places, y = [], {}, HEAD
    for width in TYPES:
        for spread, dtype, name in results.kinds(width):
            places[spread, dtype] = y
            body.append(text(LEFT - 12, y + 4, "end", "#333333", name))
            y += ROW
        y += ROW
    bottom = y - ROW
    head = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {RIGHT + 40} {bottom + 34}" '
            f'width="{RIGHT + 40}" height="{bottom + 34}" font-family="sans-serif">',
            '<rect width="100%" height="100%" fill="#ffffff"/>',
            text(20, 26, "start", "#111111", f"Sorts of keys as they come, {machine}", 17),
            text(20, 46, "start", "#555555", "a dot for keys alone, pairs and argsort of each size; "
                                             "red lines: the bars, 1.3 and 1.5"),
            text((LEFT + MIDDLE) / 2, HEAD - 18, "middle", "#111111", "time of CUB over ours: right is good"),
            text((MIDDLE + GAP + RIGHT) / 2, HEAD - 18, "middle", "#111111", "time over that of uniform keys: left is good")]
    for i, (exponent, colour) in enumerate(COLOURS.items()):
        head.append(text(660 + 48 * i, 46, "start", colour, f"2^{exponent}", 13))
    return "\n".join(head + rules(bottom) + body + [dots(results, e, places) for e in COLOURS] + ["</svg>"]) + "\n"
