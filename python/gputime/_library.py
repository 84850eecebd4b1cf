"""Finds and loads libgputime, and turns its failures into exceptions."""

import ctypes
import os
import pathlib

from . import _c

HERE = pathlib.Path(__file__).resolve().parent
SONAME = "libgputime.so." + ".".join(_c.HEADER_VERSION.split(".")[:2 if _c.HEADER_VERSION.startswith("0.") else 1])


class Error(Exception):
    """The work could not be done; the message is the one that the program prints."""


class UsageError(Error, ValueError):
    """The request is not valid: an unknown option, a step that the trace does not have."""


def candidates():
    """Where the library may be: beside this file (wheels), where GPUTIME_LIBRARY says, in the source tree that this
    package is part of, and where the system's loader finds it."""
    bundled = HERE / SONAME
    if bundled.exists():
        yield str(bundled)
    if os.environ.get("GPUTIME_LIBRARY"):
        yield os.environ["GPUTIME_LIBRARY"]
        return
    tree = HERE.parent.parent
    if (tree / "include" / "gputime.h").exists() and (tree / "build" / SONAME).exists():
        yield str(tree / "build" / SONAME)
    yield SONAME


def version_of(library):
    library.gputime_version.restype = ctypes.c_char_p
    return library.gputime_version().decode()


def load():
    path = next(candidates())
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"cannot load libgputime: {error}; set GPUTIME_LIBRARY to the library, or install it") from None
    if not hasattr(library, "gputime_version"):
        raise ImportError(f"{path} is not libgputime; set GPUTIME_LIBRARY to the library")
    found = version_of(library)
    if found.split(".")[:2] != _c.HEADER_VERSION.split(".")[:2]:
        raise ImportError(f"{path} is libgputime {found}; this package needs {_c.HEADER_VERSION}")
    for name, (result, arguments) in _c.FUNCTIONS.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise ImportError(f"{path} has no {name}; this package needs libgputime {_c.HEADER_VERSION}") from None
        function.restype, function.argtypes = result, arguments
    return library


lib = load()
__version__ = version_of(lib)


def text(value):
    """Constant text of the library."""
    return None if value is None else value.decode("utf-8", "replace")


def counted(value):
    """A struct gputime_text, or a pair of bytes and length."""
    pointer, size = (value.bytes, value.size) if isinstance(value, _c.gputime_text) else value
    return ctypes.string_at(pointer, size).decode("utf-8", "replace") if pointer else ""


def encoded(value):
    """Text for the library: names may have any bytes, but no NUL."""
    if not isinstance(value, (str, bytes, bytearray, os.PathLike)):
        raise TypeError(f"a text or path is needed, not {type(value).__name__} {value!r}")
    data = os.fsencode(value) if isinstance(value, (str, os.PathLike)) else bytes(value)
    if b"\0" in data:
        raise UsageError("text with a NUL byte")
    return data


def failure(error):
    message = error.message.decode("utf-8", "replace")
    return UsageError(message) if error.status == _c.GPUTIME_USAGE else Error(message)


def call(function, *arguments):
    """Calls a function whose last argument is the error, and raises what that says."""
    error = _c.gputime_error()
    if function(*arguments, ctypes.byref(error)) != _c.GPUTIME_OK:
        raise failure(error)


def entries(registry):
    return [lib.gputime_registry_entry(registry, i) for i in range(lib.gputime_registry_count(registry))]
