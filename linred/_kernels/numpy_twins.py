"""A slow, readable NumPy twin of every kernel, which the tests compare with. Nothing in the library calls it."""

from fractions import Fraction

import numpy as np


def count_pairs(s_codes, x_codes, n_s, n_x):
    counts = np.zeros((n_s, n_x), np.int64)
    np.add.at(counts, (s_codes.astype(np.int64), x_codes.astype(np.int64)), 1)
    return counts


def recode(codes, table):
    return table[codes.astype(np.int64)]


def column_extremes(matrix):
    return matrix.max(axis=0), matrix.min(axis=0)


def worst_neighbors(matrix, neighbors):
    """Return the largest log matrix[s, x] / matrix[s', x] among neighbours, 0/0 skipped, and the set of its places."""
    largest, places = 0.0, set()
    for s, s_prime in np.argwhere(neighbors):
        for x in range(matrix.shape[1]):
            if s == s_prime or matrix[s, x] == 0.0:
                continue
            below = matrix[s_prime, x]
            ratio = np.inf if below == 0.0 else np.log(matrix[s, x]) - np.log(below)
            if ratio > largest:
                largest, places = ratio, set()
            if ratio == largest:
                places.add((x, int(s), int(s_prime)))
    return largest, places


def excess(p, p_x, alpha):
    delta = p - p_x
    delta[np.abs(delta) <= 2.0**-48 * p] = 0.0
    delta *= alpha
    rows, most_probable = np.arange(len(p)), p.argmax(axis=1)
    delta[rows, most_probable] = 0.0
    delta[rows, most_probable] = -delta.sum(axis=1)
    return delta


def northwest(supply, demand):
    """Return the plan of one row, dense |X| x |X|: the overlaps of the intervals between cumulative sums."""
    supply_ends, demand_ends = np.cumsum(supply), np.cumsum(demand)
    ends = np.minimum(supply_ends[:, None], demand_ends)
    starts = np.maximum((supply_ends - supply)[:, None], demand_ends - demand)
    return np.maximum(ends - starts, 0.0)


def northwest_flows(delta):
    """Return the flows from excess to deficit of one row as (x, y, mass), vectorised, for comparison in the benchmarks.

    All cumulative sums are merged. The number of supplies that end before an interval between two consecutive ends is
    the index of its supply, and likewise for demands.
    """
    x, y = np.flatnonzero(delta > 0.0), np.flatnonzero(delta < 0.0)
    ends = np.concatenate([np.cumsum(delta[x]), np.cumsum(-delta[y])[:-1]])
    order = ends.argsort(kind="stable")
    of_supply = order < x.size
    supplies_before = np.cumsum(of_supply) - of_supply
    demands_before = np.minimum(np.arange(order.size) - supplies_before, y.size - 1)
    return x[supplies_before], y[demands_before], np.diff(ends[order], prepend=0.0)


def tables_from_flows(p, q, p_y, flows, complete):
    """Return the dense P(y|s,x) that the tables must represent."""
    n_s, n_x = p.shape
    indptr, x, y, mass = flows
    dense = np.zeros((n_s, n_x, n_x))
    dense[p == 0.0] = p_y
    for s in range(n_s):
        plan = np.zeros((n_x, n_x))
        span = slice(indptr[s], indptr[s + 1])
        np.add.at(plan, (x[span], y[span]), mass[span])
        if not complete:
            plan += np.diag(np.minimum(p[s], q[s]))
        for i in np.flatnonzero(p[s]):
            dense[s, i] = plan[i] / plan[i].sum() if plan[i].any() else np.eye(n_x)[i]
    return dense


def monge_margin(d):
    """Return the margin over all x < x', y < y', not only neighbours; it has the same sign as the kernel's margin."""
    n_x, n_y = d.shape
    margins = [
        d[x, j] + d[i, y] - d[x, y] - d[i, j]
        for x in range(n_x)
        for i in range(x + 1, n_x)
        for y in range(n_y)
        for j in range(y + 1, n_y)
    ]
    return min(margins, default=np.inf)


def shorter_detour(d, slack):
    """Return whether any d(x, z) (1 - slack) > d(x, y) + d(y, z)."""
    return bool((d[:, None, :] * (1.0 - slack) > d[:, :, None] + d[None, :, :]).any())


def quantise(probability):
    """Return the weights of one table of two or more symbols, Python integers that sum to 2^64."""
    total = 0.0
    for p in probability:
        total += p
    most = float(2**64 - 2**11)
    weight = [max(1, round(min(p / total * 2.0**64, most))) for p in probability]
    missing, carry = float(2**64 - sum(weight)), 0.0
    for i, p in enumerate(probability):
        wanted = missing * (p / total) + carry
        if weight[i] + round(wanted) >= 1:
            weight[i] += round(wanted)
            carry = wanted - round(wanted)
    weight[int(np.argmax(probability))] += 2**64 - sum(weight)
    return weight


def keep_weight(keep, move):
    """Return the weight out of 2^64 with which a row keeps x; rows that may move have a weight below 2^64."""
    weight = max(1, round(Fraction(min(keep, move)) * 2**64)) if min(keep, move) else 0
    return weight if keep <= move else 2**64 - weight


def weights_of_cells(cells, log2_cells):
    """Return {y: weight out of 2^64} for one table of alias cells."""
    full, weights = 2**64 >> log2_cells, {}
    for threshold, own, alias in cells.tolist():
        own_weight = threshold >> log2_cells
        for y, weight in ((own, own_weight), (alias, full - own_weight)):
            if weight:
                weights[y] = weights.get(y, 0) + weight
    return weights


def weights_of_whole_cells(cells):
    """Return {y: number of words that select it} for one table in whole numbers."""
    weights, before = {}, 0
    for threshold, own, _ in cells.tolist():
        if threshold > before:
            weights[own] = threshold - before
            before = threshold
    return weights


def draw(row, cells, x, u, v):
    """Sample one record: x if u is below the row's keep weight, otherwise the symbol that v selects from its cells."""
    if u < int(row["keep"]):
        return x
    log2_cells = int(row["log2_cells"])
    cell = cells[int(row["first_cell"]) + (v >> (64 - log2_cells))]
    return int(cell["own"] if (v << log2_cells) % 2**64 < int(cell["threshold"]) else cell["alias"])


def draw_whole(row, limit, cells, x, words):
    """Sample one record from a row and a table in whole numbers.

    words : iterator of (u, v), one for each try. The first u below the limit decides whether x is kept; then the first
        v below the limit of the table, beginning with the v of the same try, selects the symbol.
    """
    u, v = next(words)
    while u >= limit:
        u, v = next(words)
    if u < int(row["keep"]):
        return x
    table = cells[int(row["first_cell"]) :][: 2 ** int(row["log2_cells"])].tolist()
    while v >= table[-1][0]:
        _, v = next(words)
    return next(own for threshold, own, _ in table if v < threshold)


def sample(kernel, shift, s_codes, x_codes, words, blocks):
    """Sample all records of two columns of codes; s_codes is None for a mechanism that does not use S.

    words : random words of the first stage, or None. blocks : 16 random bytes for each record, needed or not; an array
        of them for each try, if tables are in whole numbers.
    """
    y_codes, tries = np.empty_like(x_codes), [blocks] if kernel.limits is None else blocks
    for i, x in enumerate(x_codes.tolist()):
        index = x if s_codes is None else int(s_codes[i]) << shift | x
        of_tries = [
            [int.from_bytes(one[16 * i + at : 16 * i + at + 8].tobytes(), "little") for at in (0, 8)] for one in tries
        ]
        if words is not None and kernel.settled is not None:
            of_tries[0][1] = int(words[i]) << 56 | of_tries[0][1] >> 8
        elif words is not None:
            of_tries[0][0] = int(words[2 * i]) << 48 | int(words[2 * i + 1]) << 56 | of_tries[0][0] >> 16
        if kernel.limits is None:
            y_codes[i] = draw(kernel.rows[index], kernel.cells, x, *of_tries[0])
        else:
            limit = int(kernel.limits[index])
            y_codes[i] = draw_whole(kernel.rows[index], limit, kernel.cells, x, iter(of_tries))
    return y_codes


def csv_records(text, delimiter, n_columns):
    """Return the fields of all records, with their quotes, of text up to the end of a file.

    A ValueError names the record.
    """
    records, i = [], 0
    while i < len(text):
        if n_columns > 1 and text[i] in b"\r\n":
            i += 1
            continue
        fields = []
        while True:
            begin, where = i, f"record {len(records)} of the block"
            if text[i : i + 1] == b'"':
                i = _closing_quote(text, i, where) + 1
                if i < len(text) and text[i] not in delimiter + b"\r\n":
                    raise ValueError(f"{where} has a quoted field with text after its closing quote")
            else:
                while i < len(text) and text[i] not in delimiter + b"\r\n":
                    i += 1
            fields.append(text[begin:i])
            if text[i : i + 1] != delimiter:
                break
            i += 1
        if len(fields) != n_columns:
            raise ValueError(f"{where} has {len(fields)} fields, and the header has {n_columns}")
        records.append(fields)
        i += 2 if text[i : i + 2] == b"\r\n" else 1
    return records


def _closing_quote(text, i, where):
    while True:
        i = text.find(b'"', i + 1)
        if i < 0:
            raise ValueError(f"{where} has a quote that is never closed")
        if text[i + 1 : i + 2] != b'"':
            return i
        i += 1


def csv_value(field):
    """Return the value of a field, without quotes."""
    return field[1:-1].replace(b'""', b'"') if field[:1] == b'"' else field
