"""Definitions saved as text: the definition, its segmentation, and the segments' schedules.

The text is a definition file that the command line runs too: everything besides the definition is in comments.
"""

import os
from typing import TYPE_CHECKING, Dict, Iterator, List, Tuple, Union

from ._native import Builder, DefinitionError, write_file

if TYPE_CHECKING:
    from .definition import FusionDefinition

VERSION = 1
_HEAD = "# saved by ferrofuse, version "
_SECTION = "# ---- "
_END = "end"

Path = Union[str, "os.PathLike[str]"]


def as_text(fd: "FusionDefinition") -> str:
    """The text of a definition.

    Raises:
        DefinitionError: for one without outputs, for one that has changed since it was cut into segments, and for one with
            a segment whose definition was edited, or runs with choices of its own.
    """
    if fd._builder.is_empty():
        raise DefinitionError("only a definition with outputs can be saved or pickled")
    if fd._cut is not None:
        fd._cut.require_runnable()
    lines = [f"{_HEAD}{VERSION}", *fd._builder.text(False).rstrip().splitlines()]
    for name, text in _choices(fd):
        lines += [f"{_SECTION}{name}", *(f"# {line}" for line in text.splitlines())]
    return "\n".join([*lines, f"{_SECTION}{_END}", ""])


def of_text(text: str, name: str = "the text") -> "FusionDefinition":
    """The definition in a text that `as_text` made, which errors call `name`.

    Raises:
        DefinitionError: for other texts, and for one that is truncated or of a newer version.
    """
    body, choices = _sections(text, name)
    fd = _of_body(body, name)
    limit = choices.pop("peak_memory", None)
    if limit is not None and "segments" not in choices:
        fd.peak_memory = int(limit)
    if "segments" in choices:
        fd.segmentation = choices.pop("segments")
    segments = {f"schedule {segment.name}": segment for segment in fd.segments}
    for what, schedule in choices.items():
        if what not in segments:
            raise DefinitionError(f"{name}: {what!r} is not a known section, or names no segment")
        segments[what].schedule = schedule
    return fd


def _of_body(text: str, name: str) -> "FusionDefinition":
    """The definition in a text without sections."""
    from .definition import FusionDefinition

    try:
        return FusionDefinition._of(Builder.read(text))
    except DefinitionError as error:
        raise DefinitionError(f"{name}: {error}") from None


def save(fd: "FusionDefinition", path: Path) -> None:
    """Writes a definition to a file, atomically unless it is a device or FIFO."""
    text = as_text(fd)
    if os.path.isfile(path) or not os.path.exists(path):
        write_file(path, text)
    else:
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)


def load(path: Path) -> "FusionDefinition":
    """The definition in a file, saved or written by hand."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise DefinitionError(f"{os.fspath(path)}: not a definition: it is not text") from None
    name = os.fspath(path)
    return of_text(text, name) if _is_saved(text) else _of_body(text, name)


def _is_saved(text: str) -> bool:
    """Whether a text is a saved definition, or the end of one."""
    return text.startswith(_HEAD) or text.endswith(f"{_SECTION}{_END}\n")


def _choices(fd: "FusionDefinition") -> Iterator[Tuple[str, str]]:
    """What the user chose: the name and the text of a section for each choice."""
    if fd.peak_memory is not None and not fd.segments:
        yield "peak_memory", str(fd.peak_memory)
    if fd._cut is not None:
        yield "segments", fd._cut.text()
    for segment in fd.segments:
        if segment._is_edited():
            raise DefinitionError(f"the definition of {segment.name} was edited: save it by itself, segment.definition.save(path)")
        if segment.schedule is not None:
            yield f"schedule {segment.name}", segment.schedule


def _sections(text: str, name: str) -> Tuple[str, Dict[str, str]]:
    """The definition, and the other sections by name."""
    lines = text.splitlines()
    first = lines[0] if lines else ""
    version = first[len(_HEAD) :]
    if not first.startswith(_HEAD) or not version.isdecimal():
        raise DefinitionError(f"{name}: not a saved definition: it does not begin with `{_HEAD}{VERSION}`")
    if int(version) > VERSION:
        raise DefinitionError(f"{name}: saved by a newer ferrofuse: version {version}, this one reads up to {VERSION}")
    if lines[-1] != _SECTION + _END:
        raise DefinitionError(f"{name}: the file is cut short: it does not end with `{_SECTION}{_END}`")
    body: List[str] = []
    choices: Dict[str, List[str]] = {}
    into = body
    for line in lines[:-1]:
        if line.startswith(_SECTION):
            into = choices.setdefault(line[len(_SECTION) :], [])
        else:
            into.append(line if into is body else line[2:])
    return "\n".join(body) + "\n", {what: "".join(f"{line}\n" for line in section) for what, section in choices.items()}
