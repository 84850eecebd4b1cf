"""Lists of intervals, and exact statistics."""

import bisect
import fractions
import math


# ---- intervals ----


def union(intervals):
    merged = []
    for start, end in sorted(intervals):
        if start >= end:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


def length(merged):
    return sum(end - start for start, end in merged)


def common(a, b):
    """Length of the common part of two merged lists."""
    total, i, j = 0, 0, 0
    while i < len(a) and j < len(b):
        total += max(0, min(a[i][1], b[j][1]) - max(a[i][0], b[j][0]))
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return total


def common_with_one(merged, start, end):
    """Length of the part of [start, end) that a merged list covers."""
    total = 0
    position = bisect.bisect_right(merged, start, key=lambda item: item[1])
    while position < len(merged) and merged[position][0] < end:
        total += max(0, min(end, merged[position][1]) - max(start, merged[position][0]))
        position += 1
    return total


def times_of(ops, *classes):
    return union((op.start, op.end) for op in ops if not classes or op.time_class in classes)


# ---- statistics ----


def quantile(values, q):
    """Linear interpolation at q * (n - 1); values sorted, q a Fraction. Exact."""
    place = q * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (place - low) * (values[high] - values[low])


def median(values):
    return quantile(sorted(values), fractions.Fraction(1, 2)) if values else None


def sample_stddev(values):
    n = len(values)
    if n < 2:
        return 0.0
    total, squares = sum(values), sum(value * value for value in values)
    variance = fractions.Fraction(n * squares - total * total, n * (n - 1))
    # The integer square root at 2^200 times the scale is exact far beyond a double.
    root = math.isqrt((variance.numerator << 400) // variance.denominator)
    return float(fractions.Fraction(root, 1 << 200))


def statistics(values):
    values = sorted(values)
    return {
        "count": len(values),
        "total_ns": sum(values),
        "avg_ns": sum(values) / len(values),
        "min_ns": values[0],
        "median_ns": float(quantile(values, fractions.Fraction(1, 2))),
        "max_ns": values[-1],
        "stddev_ns": sample_stddev(values),
        "p90_ns": float(quantile(values, fractions.Fraction(9, 10))),
        "p99_ns": float(quantile(values, fractions.Fraction(99, 100))),
    }


def fraction(part, whole):
    return part / whole if whole else 0.0
