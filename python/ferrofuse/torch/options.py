"""The options of the backend, from `torch.compile(…, options={…})`, checked by name and by value."""

from dataclasses import dataclass, fields
from typing import Any, Mapping, Optional

ON_UNSUPPORTED = ("eager", "error")


@dataclass(frozen=True)
class Options:
    """The user's choices.

    Attributes:
        min_ops: regions with fewer ops are left to eager. Ops that are slow in eager, such as `exp` and `where`, count
            twice, and so do the ops of regions that move 2 MiB or more; those that eager is faster at count as none.
        on_unsupported: the treatment of an op that fails to lower, and of tensors of a device, layout or class that no
            kernel takes: "eager" leaves them to torch and warns, "error" ends the compilation. Ops without a row in the
            table, among them those of torch's libraries, are eager's in any case.
        emulate_precision_casts: each op on half types rounds, as in eager; else they are computed in f32 in a region.
        fallback_random: random numbers are drawn by eager, bit for bit.
    """

    min_ops: int = 2
    on_unsupported: str = "eager"
    emulate_precision_casts: bool = False
    fallback_random: bool = False


def parse(given: Optional[Mapping[str, Any]]) -> Options:
    """The options of a user, with defaults for the others.

    Raises:
        ValueError: for a name that is no option, and a value that it cannot have.
        TypeError: for a value of another type.
    """
    known = {field.name: field for field in fields(Options)}
    for name, value in (given or {}).items():
        if name not in known:
            raise ValueError(f"backend \"ferrofuse\" has no option {name!r}; it has {', '.join(known)}")
        _check(name, value, type(known[name].default))
    return Options(**dict(given or {}))


def _check(name: str, value: Any, expected: Any) -> None:
    if type(value) is not expected:
        raise TypeError(f"option {name!r} must be of type {expected.__name__}, but is {value!r}")
    if name == "min_ops" and value < 1:
        raise ValueError(f"option 'min_ops' must be 1 or more, but is {value}")
    if name == "on_unsupported" and value not in ON_UNSUPPORTED:
        raise ValueError(f"option 'on_unsupported' must be 'eager' or 'error', but is {value!r}")
