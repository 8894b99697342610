"""What the compiler decided: segments, bytes, boundaries and the reasons for them."""

import json
from typing import Any, Dict


class Explanation:
    """`print` it, or take `to_dict()`: the object that `ferrofuse explain --json` prints."""

    def __init__(self, text: str, encoded: str) -> None:
        self._text = text
        self._encoded = encoded

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__

    def to_dict(self) -> Dict[str, Any]:
        """Segments, edges and bytes, as plain lists and dicts."""
        decoded: Dict[str, Any] = json.loads(self._encoded)
        return decoded
