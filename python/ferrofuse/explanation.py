"""What the compiler decided: segments, bytes, boundaries and the reasons for them."""

import json
from typing import Any, Dict, Optional, Tuple

from . import _native


class Explanation:
    """`print` it, or take `to_dict()`: the object that `ferrofuse explain --json` prints. Notebooks show it as a picture with
    what each segment does. With another to compare it with, both say what differs."""

    def __init__(self, text: str, encoded: str, against: Optional[Tuple[str, "Explanation"]] = None) -> None:
        self._text = text
        self._encoded = encoded
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
        """A page of HTML that needs nothing else: the picture, and for each segment what it does."""
        return _native.explanation_html(self._encoded, title, True, self._others)

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def _repr_html_(self) -> str:
        return _native.explanation_html(self._encoded, "", False, self._others)
