"""Who keeps memory of the library alive: an object of the library is freed when no Python object refers to it."""

import ctypes

# A function of its own: that of ctypes.pythonapi has the types that anybody set last.
_untrack = ctypes.PyDLL(None).PyObject_GC_UnTrack
_untrack.restype, _untrack.argtypes = None, [ctypes.py_object]


class Owner:
    """An object of the library, which is freed with its last reference, before the owners of what it borrows from.

    Owners refer only to owners that were there before them, so they are never in a cycle, and the garbage collector is
    told to leave them alone: of a dead cycle with a view and its owner in it, it would run the owner's finalizer while
    those of others can still read the view."""

    __slots__ = ("address", "free", "parents")

    def __init__(self, address, free, *parents):
        self.address, self.free, self.parents = address, free, parents
        _untrack(self)

    def __del__(self):
        self.free(self.address)

    @property
    def _as_parameter_(self):
        """Functions of the library take the owner itself, which then lives until they return, whatever other threads do."""
        return ctypes.c_void_p(self.address)

    def __reduce__(self):
        raise TypeError("objects of libgputime cannot be pickled or copied")


SIZES = {"B": 1, "b": 1, "H": 2, "h": 2, "I": 4, "i": 4, "Q": 8, "q": 8, "d": 8}


def view(owner, address, kind, count):
    """A read-only memoryview of `count` elements (a letter of the struct module) that keeps their owner alive."""
    if not count:
        return memoryview(b"").cast(kind)
    block = (ctypes.c_char * (SIZES[kind] * count)).from_address(address)
    block.owner = owner
    return memoryview(block).toreadonly().cast("B").cast(kind)
