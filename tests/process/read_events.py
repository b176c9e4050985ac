#!/usr/bin/env python3
"""Reads TensorBoard's event files, from their description alone: TFRecords of protocol buffers.

read_events.py FILE... prints a line of JSON for each event, and ends with 1 at a broken one.
"""
import json
import pathlib
import struct
import sys


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def check(data, stored, what):
    crc = crc32c(data)
    masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
    if struct.unpack("<I", stored)[0] != masked:
        sys.exit(f"the CRC of {what} is wrong")


def records(data):
    """The contents of a TFRecord file."""
    at = 0
    while at < len(data):
        length = data[at:at + 8]
        check(length, data[at + 8:at + 12], f"the length at byte {at}")
        end = at + 12 + struct.unpack("<Q", length)[0]
        record = data[at + 12:end]
        check(record, data[end:end + 4], f"the record at byte {at}")
        yield record
        at = end + 4


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def fields(data):
    """(number, value) of a message's fields; numbers of 4 and 8 bytes as bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        else:
            size = {1: 8, 5: 4}.get(kind)
            if size is None:
                size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def scalars(summary):
    values = {}
    for number, value in fields(summary):
        members = dict(fields(value))
        assert number == 1 and members.keys() == {1, 2}, "not a tag and a simple_value"
        values[members[1].decode()] = struct.unpack("<f", members[2])[0]
    return values


def event(record):
    names = {1: "wall_time", 2: "step", 3: "file_version", 5: "scalars", 7: "session"}
    read = {1: lambda value: struct.unpack("<d", value)[0], 2: int, 3: bytes.decode, 5: scalars,
            7: lambda value: dict(fields(value))[1]}
    return {names[number]: read[number](value) for number, value in fields(record)}


for path in sys.argv[1:]:
    for one in records(pathlib.Path(path).read_bytes()):
        print(json.dumps(event(one)))
