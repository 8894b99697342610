"""Definitions saved as text: the definition, its segmentation, and the segments' schedules.

The text is a definition file that the command line runs too, with the same segments and schedules.
"""

import os
from typing import TYPE_CHECKING, List, Tuple, Union

from ._native import Builder, DefinitionError, is_saved, read_saved, saved_text, write_file

if TYPE_CHECKING:
    from .definition import FusionDefinition

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
    segmentation = None if fd._cut is None else fd._cut.text(fd._builder)
    return saved_text(fd._builder.text(False), fd.peak_memory, segmentation, _schedules(fd))


def of_text(text: str, name: str = "the text") -> "FusionDefinition":
    """The definition in a text that `as_text` made, which errors call `name`.

    Raises:
        DefinitionError: for other texts, and for one that is truncated or of a newer version.
    """
    try:
        body, limit, segmentation, schedules = read_saved(text)
    except DefinitionError as error:
        raise DefinitionError(f"{name}: {error}") from None
    fd = _of_body(body, name)
    fd.peak_memory = limit
    fd._cut_by_hand(segmentation)
    segments = {segment.name: segment for segment in fd.segments}
    for segment, schedule in schedules:
        if segment not in segments:
            raise DefinitionError(f"{name}: `schedule {segment}` names no segment")
        segments[segment].schedule = schedule
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
    path, text = os.fsdecode(path), as_text(fd)
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
    return of_text(text, name) if is_saved(text) else _of_body(text, name)


def _schedules(fd: "FusionDefinition") -> List[Tuple[str, str]]:
    """The schedules that the user chose, each with the name of its segment."""
    schedules = []
    for segment in fd.segments:
        if segment._is_edited():
            raise DefinitionError(f"the definition of {segment.name} was edited: save it by itself, segment.definition.save(path)")
        if segment.schedule is not None:
            schedules.append((segment.name, segment.schedule))
    return schedules
