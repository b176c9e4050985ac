"""libgrapevine.so, as ctypes sees it (capi/grapevine.h)."""

import ctypes
import numbers
import os
import pathlib
import stat

from . import errors

_NAME = "libgrapevine.so.1"
_VERSION = 1


class Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int32), ("message", ctypes.c_char * 4096)]


class Setting(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_char_p)]


class Tensor(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("section", ctypes.c_int32),
        ("dimensions", ctypes.c_int32),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
    ]


class Model(ctypes.Structure):
    _fields_ = [
        ("tensors", ctypes.POINTER(Tensor)),
        ("tensor_count", ctypes.c_size_t),
        ("values", ctypes.c_void_p),
        ("buffer_momentum", ctypes.c_float),
    ]


class Task(ctypes.Structure):
    _fields_ = [
        ("state", ctypes.c_int32),
        ("round", ctypes.c_int64),
        ("size", ctypes.c_int64),
        ("replica", ctypes.c_void_p),
        ("gradient", ctypes.c_void_p),
    ]


PARAMETER, BUFFER = 0, 1
WAITING, WANTED, OVER = 0, 1, 2

_NODE = ctypes.c_void_p
_ERROR = ctypes.POINTER(Error)
_SETTINGS = (ctypes.POINTER(Setting), ctypes.c_size_t)
_TEXT = ctypes.POINTER(ctypes.c_void_p)

_FUNCTIONS = {
    "grapevine_version": (ctypes.c_char_p, ()),
    "grapevine_join": (
        ctypes.c_int,
        (*_SETTINGS, ctypes.POINTER(Model), ctypes.POINTER(_NODE), _ERROR),
    ),
    "grapevine_identify": (
        ctypes.c_int,
        (*_SETTINGS, *[ctypes.POINTER(ctypes.c_int32)] * 3, _ERROR),
    ),
    "grapevine_rank": (ctypes.c_int32, (_NODE,)),
    "grapevine_size": (ctypes.c_int32, (_NODE,)),
    "grapevine_await": (ctypes.c_int, (_NODE, ctypes.c_int64, ctypes.POINTER(Task), _ERROR)),
    "grapevine_deliver": (ctypes.c_int, (_NODE, ctypes.c_double, _ERROR)),
    "grapevine_deliver_weights": (
        ctypes.c_int,
        (_NODE, ctypes.c_void_p, ctypes.c_double, _ERROR),
    ),
    "grapevine_setting_of": (ctypes.c_int, (_NODE, ctypes.c_char_p, _TEXT, _ERROR)),
    "grapevine_retire": (ctypes.c_int, (_NODE, ctypes.c_int32, _ERROR)),
    "grapevine_metrics": (ctypes.c_int, (_NODE, _TEXT, _ERROR)),
    "grapevine_average": (
        ctypes.c_int,
        (
            _NODE,
            ctypes.c_void_p,
            ctypes.POINTER(ctypes.c_int64),
            ctypes.POINTER(ctypes.c_double),
            _ERROR,
        ),
    ),
    "grapevine_finish": (
        ctypes.c_int,
        (_NODE, ctypes.c_int64, ctypes.POINTER(ctypes.c_int32), _ERROR),
    ),
    "grapevine_interrupt": (None, (_NODE, ctypes.c_char_p)),
    "grapevine_leave": (ctypes.c_int, (_NODE, ctypes.c_int64, _ERROR)),
    "grapevine_simulate": (ctypes.c_int, (*_SETTINGS, _TEXT, _ERROR)),
    "grapevine_topology": (ctypes.c_int, (*_SETTINGS, _TEXT, _ERROR)),
    "grapevine_free": (None, (ctypes.c_void_p,)),
}

_loaded = None


def _places(package):
    """Where the library is that belongs to this very package; nowhere that others could have made."""
    yield package / _NAME  # as in a wheel
    above = package.parents
    if [folder.name for folder in above[:3]] == ["python", "grapevine", "lib"]:
        yield above[1] / _NAME  # of an installation: lib/grapevine/python/grapevine
    if [folder.name for folder in above[:3]] == ["dist-packages", "python3", "lib"]:
        yield above[2] / "grapevine" / _NAME  # of the Debian package
    if above[0].name == "python" and (above[1] / "WORKSPACE").is_file() and _is_own(above[1]):
        yield above[1] / "bazel-bin" / "capi" / "libgrapevine.so"  # of a clone


def _is_own(folder):
    """Whether only those who can write this package can put something there."""
    there, here = folder.stat(), pathlib.Path(__file__).stat()
    return there.st_uid == here.st_uid and not there.st_mode & stat.S_IWOTH


def _path():
    """LIBGRAPEVINE; else in this package, the same installation or the same clone; else where the
    system looks for libraries."""
    given = os.environ.get("LIBGRAPEVINE")
    if given:
        return given
    package = pathlib.Path(__file__).resolve().parent
    return next((str(path) for path in _places(package) if path.is_file()), _NAME)


def library():
    """The library, loaded once."""
    global _loaded
    if _loaded is None:
        path = _path()
        try:
            loaded = ctypes.CDLL(path)
        except OSError as error:
            raise ImportError(
                f"{error}; install the package grapevine, or say where {_NAME} is: "
                "LIBGRAPEVINE=FILE"
            ) from None
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(loaded, name, None)
            if function is None:
                raise ImportError(
                    f"{path} has no {name}: it is of another version than this package; install both "
                    "together"
                )
            function.restype = result
            function.argtypes = arguments
        _loaded = loaded
    return _loaded


def call(name, *arguments):
    """Calls a function that can fail, and raises its error."""
    error = Error()
    code = getattr(library(), name)(*arguments, ctypes.byref(error))
    if code != 0:
        message = error.message.decode("utf-8", "replace")
        raise errors.OF_CODE.get(code, errors.GrapevineError)(message)


def call_for_text(name, *arguments):
    """The same for one that returns a text."""
    text = ctypes.c_void_p()
    call(name, *arguments, ctypes.byref(text))
    try:
        return ctypes.string_at(text).decode("utf-8")
    finally:
        library().grapevine_free(text)


def encoded(what, text):
    """As C has it, which ends texts with a NUL."""
    if "\0" in text:
        raise errors.UsageError(f"{what} has a NUL in it: {text!r}")
    return text.encode()


def _text(name, value):
    if isinstance(value, bool) or type(value).__name__ == "bool_":  # NumPy's
        return "true" if value else "false"
    if isinstance(value, (str, numbers.Real)):
        return str(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise errors.UsageError(
        f"{name}={value!r}: a setting is a text, a number or a bool, not {type(value).__name__}"
    )


def settings(values):
    """The arguments for settings by name; those that are None are not given."""
    given = {name: _text(name, value) for name, value in values.items() if value is not None}
    array = (Setting * len(given))()
    for setting, (name, text) in zip(array, given.items()):
        setting.name, setting.value = encoded("a setting's name", name), encoded(name, text)
    return array, len(given)
