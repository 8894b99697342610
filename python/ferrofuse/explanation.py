"""The compiler's decisions: segments, bytes, boundaries and their reasons."""

import json
from typing import Any, Dict, List, Optional, Tuple

from . import _native


class Explanation:
    """Prints as text. `to_dict()` is the object that `ferrofuse explain --json` prints.

    Notebooks show it as a picture, with details of each segment. Compared with another explanation, text and page also report
    the differences.
    """

    def __init__(self, made: _native.Explanation, against: Optional[Tuple[str, "Explanation"]] = None) -> None:
        self._made = made
        # The names of explanations to compare with, and these.
        self._others = [] if against is None else [(against[0], against[1]._made)]

    def __str__(self) -> str:
        compared = (self._made.difference(other, name) for name, other in self._others)
        return "\n".join([str(self._made), *compared])

    __repr__ = __str__

    def __copy__(self) -> "Explanation":
        return self._with(self._made, self._others)

    def __deepcopy__(self, memo: Any) -> "Explanation":
        return self.__copy__()

    def __reduce__(self) -> Tuple[Any, ...]:
        return _of_json, (self._made.json(), [(name, other.json()) for name, other in self._others])

    @classmethod
    def _with(cls, made: _native.Explanation, others: List[Tuple[str, _native.Explanation]]) -> "Explanation":
        explanation = cls(made)
        explanation._others = list(others)
        return explanation

    def to_dict(self) -> Dict[str, Any]:
        """Segments, edges and bytes, as plain lists and dicts."""
        decoded: Dict[str, Any] = json.loads(self._made.json())
        return decoded

    def to_svg(self) -> str:
        """The segments and the tensors between them, as an SVG document."""
        return self._made.svg()

    def to_html(self, title: str = "Segments") -> str:
        """A self-contained HTML page: the picture, and for each segment its details."""
        return self._made.html(title, True, self._others)

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def _repr_html_(self) -> str:
        return self._made.html("", False, self._others)


def _of_json(text: str, others: List[Tuple[str, str]]) -> Explanation:
    read = _native.Explanation.of_json
    return Explanation._with(read(text), [(name, read(other)) for name, other in others])
