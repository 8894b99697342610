"""The compiler's decisions: segments, bytes, boundaries and their reasons."""

import json
from typing import Any, Dict, Optional, Tuple

from . import _native


class Explanation:
    """Prints as text. `to_dict()` is the object that `ferrofuse explain --json` prints.

    Notebooks show it as a picture, with details of each segment. Compared with another explanation, text and page also report
    the differences.
    """

    def __init__(self, text: str, encoded: str, against: Optional[Tuple[str, "Explanation"]] = None) -> None:
        self._text = text
        self._encoded = encoded
        # The names and JSON texts of explanations to compare with.
        self._others = [] if against is None else [(against[0], against[1]._encoded)]

    def __str__(self) -> str:
        compared = (_native.explanation_difference(self._encoded, other, name) for name, other in self._others)
        return "\n".join([self._text, *compared])

    __repr__ = __str__

    def to_dict(self) -> Dict[str, Any]:
        """Segments, edges and bytes, as plain lists and dicts."""
        decoded: Dict[str, Any] = json.loads(self._encoded)
        return decoded

    def to_svg(self) -> str:
        """The segments and the tensors between them, as an SVG document."""
        return _native.explanation_svg(self._encoded)

    def to_html(self, title: str = "Segments") -> str:
        """A self-contained HTML page: the picture, and for each segment its details."""
        return _native.explanation_html(self._encoded, title, True, self._others)

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def _repr_html_(self) -> str:
        return _native.explanation_html(self._encoded, "", False, self._others)
