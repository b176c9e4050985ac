"""Quantities as `grapevine` writes them: "100Mbit", "5ms", "1.08MB"."""
import re

BANDWIDTHS = {"bit": 1.0, "kbit": 1e3, "Mbit": 1e6, "Gbit": 1e9}
DURATIONS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}
SIZES = {"B": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9,
         "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30}


def _read(text, units, what):
    match = re.fullmatch(r"([0-9.]+)([A-Za-z]+)", text)
    if match is None or match[2] not in units:
        raise ValueError('"%s" is no %s: a number with %s' % (text, what, ", ".join(units)))
    return float(match[1]) * units[match[2]]


def bits_per_second(text):
    return round(_read(text, BANDWIDTHS, "bandwidth"))


def seconds(text):
    return _read(text, DURATIONS, "time")


def size_bytes(text):
    return round(_read(text, SIZES, "size"))
