"""Loss of power: what a disk may hold after it, at every point of a run, from the journal of what the run wrote.

The usual model. The bytes of a file are safe once it is synced; bytes written after that may be there, be missing, or be zeros. A
name in a folder (a new file or folder, a rename, a removal) is safe once that folder is synced; of names changed since then
any number, in their order, may be there. Names do not wait for bytes, so that a renamed file may be empty.
"""

import collections
import os

Step = collections.namedtuple("Step", "kind first rest")


def read_journal(path):
    steps = []
    for line in path.read_text(encoding="utf-8", errors="surrogateescape").split("\n")[:-1]:
        kind, rest = line.split(" ", 1)
        if kind == "renamed":
            steps.append(Step(kind, *rest.split("\t")))
        elif kind in ("removed", "made"):
            steps.append(Step(kind, rest, None))
        else:
            first, _, more = rest.partition(" ")
            steps.append(Step(kind, first, more))
    return steps


class File:
    """Bytes as a program sees them, and what is left of them without power."""

    def __init__(self, content):
        self.now = content
        self.safe = [content]  # what was there since the last sync

    def write(self, offset, data):
        padded = self.now.ljust(offset, b"\0")
        self.now = padded[:offset] + data + padded[offset + len(data):]
        self.safe.append(self.now)

    def cut(self, size):
        self.now = self.now[:size].ljust(size, b"\0")
        self.safe.append(self.now)

    def sync(self):
        self.safe = [self.now]

    def after(self):
        """Each content that may be found: of every stage, whole, cut at some places, or zeros from there on."""
        found = set(self.safe)
        for stage in self.safe if len(self.safe) > 1 else []:
            known = len(os.path.commonprefix([self.safe[0], stage]))  # what the sync made safe stays
            for cut in {known, (known + len(stage)) // 2, max(known, len(stage) - 1)}:
                found.add(stage[:cut])
                found.add(stage[:cut].ljust(len(stage), b"\0"))
        return found


class Disk:
    """The files of one folder tree, from what was in it before."""

    def __init__(self, root, folders, before):
        self.root = os.path.realpath(root)
        self.folders = {self.root} | {os.path.realpath(folder) for folder in folders}  # that are there from the beginning
        self.files = {}  # by the name that the journal gives them
        self.folder_paths = {}
        self.names = {}  # path: file, as programs see it
        self.changes = []  # (folder, path, file or None) that may not be on the disk
        self.safe_names = {}
        for path, content in before.items():
            self.names[path] = self.safe_names[path] = File(content)

    def is_inside(self, path):
        return path.startswith(self.root + "/")

    def change(self, path, file):
        if self.is_inside(path):
            self.changes.append((os.path.dirname(path), path, file))
            if file is None:
                self.names.pop(path, None)
            else:
                self.names[path] = file

    def sync_folder(self, folder):
        kept = []
        for change in self.changes:
            if change[0] != folder:
                kept.append(change)
            elif change[2] is None:
                self.safe_names.pop(change[1], None)
            else:
                self.safe_names[change[1]] = change[2]
        self.changes = kept

    def do(self, step):
        kind = step.kind
        if kind in ("opened", "emptied"):
            self.open(step)
        elif kind == "folder":
            self.folder_paths[step.first] = step.rest
        elif kind == "written" and step.first in self.files:
            offset, data = step.rest.split(" ")
            self.files[step.first].write(int(offset), bytes.fromhex(data))
        elif kind == "cut" and step.first in self.files:
            self.files[step.first].cut(int(step.rest))
        elif kind == "synced" and step.first in self.files:
            self.files[step.first].sync()
        elif kind == "synced" and step.first in self.folder_paths:
            self.sync_folder(os.path.realpath(self.folder_paths[step.first]))
        elif kind == "renamed":
            source, target = os.path.abspath(step.first), os.path.abspath(step.rest)
            file = self.names.get(source)
            if file:
                self.change(target, file)
                self.change(source, None)
        elif kind == "removed":
            self.change(os.path.abspath(step.first), None)
        elif kind == "made":
            self.change(os.path.abspath(step.first), "folder")

    def open(self, step):
        path = step.rest
        if not self.is_inside(path):
            return
        file = self.names.get(path)
        if not isinstance(file, File):
            file = File(b"")
            self.change(path, file)
        self.files[step.first] = file
        if step.kind == "emptied":
            file.cut(0)

    def after(self):
        """Every set of names that may be found: [{path: file}]."""
        folders = sorted({change[0] for change in self.changes})
        found = [dict(self.safe_names)]
        for folder in folders:
            pending = [change for change in self.changes if change[0] == folder]
            found = [apply(names, pending[:count]) for names in found for count in range(len(pending) + 1)]
        return [self.reachable(names) for names in found]

    def reachable(self, names):
        """Without what is in new folders that are not there."""
        return {path: file for path, file in names.items() if all(names.get(folder) == "folder" for folder in self.new_folders(path))}

    def new_folders(self, path):
        folder = os.path.dirname(path)
        while folder not in self.folders:
            yield folder
            folder = os.path.dirname(folder)


def apply(names, changes):
    names = dict(names)
    for _, path, file in changes:
        if file is None:
            names.pop(path, None)
        else:
            names[path] = file
    return names


class Lost(AssertionError):
    """A file that is neither old nor new."""


def replay(steps, root, folders, before, final, is_harmless=lambda path, content: False):
    """Checks every prefix. folders: those below root that were there before; before and final: {path: bytes}. Gives how many
    states were looked at, and which files are there for sure at the end."""
    disk, states = Disk(root, folders, before), 0
    for number, step in enumerate([None] + steps):
        if step:
            disk.do(step)
        for names in disk.after():
            for path, file in names.items():
                if file == "folder" or os.path.basename(path).startswith((".gputime-", "tmp-")):
                    continue  # a temporary file is nobody's result
                for content in file.after():
                    states += 1
                    if content not in (before.get(path), final.get(path)) and not is_harmless(path, content):
                        raise Lost(f"step {number} ({step and step[:2]}): {path} may have {len(content)} bytes")
            for path in before:
                states += 1
                if path not in names:
                    raise Lost(f"step {number} ({step and step[:2]}): {path} may be lost")
    worlds = disk.after()
    sure = {path for path, content in final.items()
            if all(isinstance(names.get(path), File) and names[path].after() == {content} for names in worlds)}
    return states, sure
