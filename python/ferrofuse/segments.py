"""Segments of a definition as objects. Each is a definition; together they run in place of the whole."""

from typing import TYPE_CHECKING, Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple, Union

from . import _native
from ._native import DefinitionError, TensorView

if TYPE_CHECKING:
    from .definition import FusionDefinition

CHANGED = "the definition has changed since it was cut into segments: cut it again"
NOT_SET_UP = "no segmentation is set up: call fd.setup_segmentation() first"

# A segmentation by hand: text, or for each segment a list of the tensors that it makes, or of their names.
ByHand = Union[str, Sequence[Sequence[Union[str, TensorView]]]]


class SegmentBytes(NamedTuple):
    """Bytes that a segment moves."""

    number: Optional[int]
    """None if sizes are not known."""
    formula: str
    """The number for any sizes."""


class FoldLambda(NamedTuple):
    """The lambda of a fold or a scan."""

    op: str
    """"fold" or "scan"."""
    outputs: List[str]
    """The names of its results in the definition."""
    init: List[Any]
    """The initial values of the state."""
    definition: "FusionDefinition"
    """Its body: combines the state of one run of elements with that of another."""


class Segment:
    """A segment of a definition.

    Attributes:
        name: as `seg0`.
        inputs, outputs: names in the whole definition; of an input that is a size, its formula.
        recomputed: tensors that an earlier segment computes too.
        bytes: the bytes that it moves.
        why: the reason for the segment.
        device, stream: as its groups ask for them.
        index_map: from the number of a value in the segment to its number in the whole definition.
    """

    def __init__(self, cut: _native.Segment, definition: "FusionDefinition") -> None:
        self._cut = cut
        self._definition = self._original = definition
        self._version = definition._version()
        self._schedule: Optional[str] = None
        self.name: str = cut.name
        self.inputs: List[str] = cut.inputs
        self.outputs: List[str] = cut.outputs
        self.recomputed: List[str] = cut.recomputed
        self.bytes = SegmentBytes(cut.bytes, cut.bytes_formula)
        self.why: str = cut.why
        self.device: Optional[str] = cut.device
        self.stream: Optional[int] = cut.stream
        self.index_map: Dict[int, int] = cut.index_map

    @property
    def definition(self) -> "FusionDefinition":
        """Its definition. May be edited, or set to another definition with the same inputs and outputs.

        Raises:
            DefinitionError: for one with other inputs or outputs.
            TypeError: for an object that is not a FusionDefinition.
        """
        return self._definition

    @definition.setter
    def definition(self, definition: "FusionDefinition") -> None:
        if not hasattr(definition, "_builder"):
            raise TypeError(f"{self.name}.definition: expected a FusionDefinition, not {definition!r}")
        self._cut.check(definition._builder, self._schedule)
        self._definition = definition

    @property
    def schedule(self) -> Optional[str]:
        """The schedule of its kernel by hand, as `ferrofuse emit --stage schedule` prints it. None is the compiler's choice.

        Raises:
            InputError: for a text that is not a schedule, and for one with loops that the segment does not have.
        """
        return self._schedule

    @schedule.setter
    def schedule(self, schedule: Optional[str]) -> None:
        self._cut.check(self._definition._builder, schedule)
        self._schedule = schedule

    def to_svg(self) -> str:
        """The same as `definition.to_svg()`."""
        return self._definition.to_svg()

    def to_html(self) -> str:
        """The same as `definition.to_html()`, with the segment's name as title."""
        return self._definition.to_html(title=self.name)

    def _repr_svg_(self) -> Optional[str]:
        return self._definition._repr_svg_()

    def _repr_html_(self) -> Optional[str]:
        return self._definition._repr_html_()

    def __repr__(self) -> str:
        return f"<Segment {self.name}: {', '.join(self.inputs)} -> {', '.join(self.outputs)}>"

    def _is_edited(self) -> bool:
        return self._definition is not self._original or self._definition._version() != self._version

    def _require_no_choices(self) -> None:
        """Rejects choices that were made for a call of its definition by itself, which a call of the whole does not take."""
        choice = _choice(self._definition)
        if choice is not None:
            raise DefinitionError(
                f"{self.name}: its definition has {choice}, which a call of the whole would not use: "
                "remove it, or choose it for the whole"
            )

    def _runnable(self) -> Tuple[_native.Segment, _native.Builder, Optional[str]]:
        return self._cut, self._definition._builder, self._schedule

    def _state(self) -> Tuple["FusionDefinition", int, Optional[str]]:
        return self._definition, self._definition._version(), self._schedule


class Cut:
    """A definition cut into segments, which are stale once it changes."""

    def __init__(
        self,
        whole: "FusionDefinition",
        inputs: Optional[Sequence[Any]] = None,
        by_hand: Union[None, str, List[List[str]]] = None,
    ) -> None:
        self._whole = whole
        self._executable = whole._compilable()
        self.segments = [
            Segment(cut, whole._of(cut.builder())) for cut in _native.cut(self._executable, inputs, by_hand)
        ]
        self._version = whole._version()
        self._chain: Optional[_native.Chain] = None
        self._chained: List[Tuple["FusionDefinition", int, Optional[str]]] = []

    def chain(self) -> _native.Chain:
        """The segments as they are now, ready to run.

        Raises:
            DefinitionError: as `require_runnable`, and for an edited segment with other inputs or outputs.
        """
        self.require_runnable()
        states = [segment._state() for segment in self.segments]
        if self._chain is None or states != self._chained:
            parts = [segment._runnable() for segment in self.segments]
            self._chain, self._chained = _native.Chain(self._executable, parts), states
        return self._chain

    def text(self, printed: Optional[_native.Builder] = None) -> str:
        """The segmentation, a line for each segment; with the names of the text of a definition if its builder is given."""
        names = [name for each in self.segments for name in each.outputs]
        shown = iter(names if printed is None else printed.printed_names(names))
        lines = [f"segment {each.name} -> {', '.join(next(shown) for _ in each.outputs)}\n" for each in self.segments]
        return "".join(lines)

    def explain(self, inputs: Optional[Sequence[Any]]) -> _native.Explanation:
        """The decisions for the segments as they are now.

        Raises:
            DefinitionError: as `chain`.
        """
        self.require_runnable()
        parts = [segment._runnable() for segment in self.segments]
        return _native.explain_segments(self._whole._compilable(), parts, self.text(), inputs)

    def require_runnable(self) -> None:
        """Rejects segments that do not run as they are.

        Raises:
            DefinitionError: when the whole definition has changed, and for a segment whose definition has choices of its own.
        """
        self.require_unchanged()
        for segment in self.segments:
            segment._require_no_choices()

    def require_unchanged(self) -> None:
        """Rejects segments of a definition that has changed.

        Raises:
            DefinitionError: when it has changed.
        """
        if self._whole._version() != self._version:
            raise DefinitionError(CHANGED)

    def build(self, number: int) -> Tuple["FusionDefinition", Dict[int, int]]:
        """The definition of a segment and its index map.

        Raises:
            DefinitionError: if the definition has changed, or there is no such segment.
        """
        self.require_unchanged()
        if not 0 <= number < len(self.segments):
            raise DefinitionError(f"there is no segment {number}: the segments are 0 to {len(self.segments) - 1}")
        segment = self.segments[number]
        return segment.definition, segment.index_map


def _choice(definition: "FusionDefinition") -> Optional[str]:
    """What was chosen for the calls of a definition, if anything was. Segments as the compiler cut them are no choice."""
    if definition._peak_memory is not None:
        return "a peak_memory of its own"
    if definition._segmentation is not None:
        return "a segmentation of its own"
    for segment in definition.segments:
        if segment._is_edited() or segment._schedule is not None:
            what = "an edited definition" if segment._is_edited() else "a schedule"
            return f"a segment {segment.name} with {what}"
        inner = _choice(segment._definition)
        if inner is not None:
            return f"a segment {segment.name} with {inner}"
    return None


def segmentation_text(by_hand: Union[str, List[List[str]]]) -> str:
    """A segmentation by hand as text, a line for each segment."""
    if isinstance(by_hand, str):
        return by_hand
    return "".join(f"segment seg{number} -> {', '.join(names)}\n" for number, names in enumerate(by_hand))


def named(builder: _native.Builder, by_hand: ByHand) -> Union[str, List[List[str]]]:
    """A segmentation by hand as text, or as lists of names.

    Raises:
        TypeError: for a value that is neither text nor a list of lists of tensors and names. It says which element is wrong.
    """
    if isinstance(by_hand, str):
        return by_hand
    segments = _list(by_hand, "segmentation", "a list for each segment of the tensors that it makes")
    lists = []
    for number, segment in enumerate(segments):
        where = f"segmentation[{number}]"
        made = _list(segment, where, "a list of tensors or of their names")
        lists.append([_name(builder, each, f"{where}[{place}]") for place, each in enumerate(made)])
    return lists


def _list(given: Any, where: str, expected: str) -> List[Any]:
    if isinstance(given, (str, TensorView)) or not isinstance(given, Iterable):
        raise TypeError(f"{where}: expected {expected}, not {given!r}")
    return list(given)


def _name(builder: _native.Builder, made: Any, where: str) -> str:
    if isinstance(made, TensorView):
        return builder.result_name(made)
    if not isinstance(made, str):
        raise TypeError(f"{where}: expected a tensor or its name, not {made!r}")
    return made
