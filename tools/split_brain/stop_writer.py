#!/usr/bin/env python3
"""Stops a process in the middle of a write:  stop_writer.py FOLDER PATTERN OCCURRENCE

Watches the mount that FOLDER is, and sends SIGSTOP to whoever opens, for the OCCURRENCEth time, a
file whose path below FOLDER matches PATTERN, before that call returns: nothing has been written
yet. Of a pattern without wildcards, a file that stays open: once it has been written to so often.
Prints "watching", and "stopped PATH" when it has. For root; by fanotify(7).
"""
import ctypes
import fnmatch
import os
import signal
import struct
import sys

CLASS_CONTENT, CLOEXEC = 0x4, 0x1  # of fanotify_init
MARK_ADD, MARK_MOUNT = 0x1, 0x10
OPEN_PERM, MODIFY = 0x00010000, 0x2
ALLOW = 0x1
AT_FDCWD = -100
EVENT = struct.Struct("=IBBHQii")  # fanotify_event_metadata
RESPONSE = struct.Struct("=iI")

LIBC = ctypes.CDLL(None, use_errno=True)


def check(result, what):
    if result < 0:
        sys.exit(f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


def watch(folder, events):
    group = check(LIBC.fanotify_init(CLASS_CONTENT | CLOEXEC, os.O_RDONLY), "fanotify_init")
    check(LIBC.fanotify_mark(group, MARK_ADD | MARK_MOUNT, ctypes.c_uint64(events), AT_FDCWD,
                             os.fsencode(folder)), "fanotify_mark")
    return group


def next_events(group):
    """(process, path) of each; a process that waits may go on once the generator does."""
    data = os.read(group, 4096)
    while data:
        length, _, _, _, mask, descriptor, process = EVENT.unpack_from(data)
        data = data[length:]
        try:
            yield process, os.readlink(f"/proc/self/fd/{descriptor}")
        finally:
            if mask & OPEN_PERM:
                os.write(group, RESPONSE.pack(descriptor, ALLOW))
            os.close(descriptor)


def main():
    folder, pattern, occurrence = sys.argv[1:]
    left = int(occurrence)
    group = watch(folder, OPEN_PERM if "*" in pattern else MODIFY)
    print("watching", flush=True)
    while left > 0:
        for process, path in next_events(group):
            if fnmatch.fnmatchcase(path, os.path.join(folder, pattern)):
                left -= 1
                if left == 0:
                    os.kill(process, signal.SIGSTOP)
                    print("stopped", path, flush=True)


if __name__ == "__main__":
    main()
