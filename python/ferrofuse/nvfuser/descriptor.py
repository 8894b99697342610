"""The contiguity and memory order of a tensor with given strides."""

from typing import List, Optional, Sequence, Tuple


def compute_tensor_descriptor(
    sizes: Sequence[int], strides: Sequence[int]
) -> Tuple[List[Optional[bool]], List[int]]:
    """Contiguity, from the outermost axis of memory to the innermost, and for each axis its rank in memory, 0 innermost.

    An axis of size 1 or stride 0 has contiguity None. Axes of equal stride, and those of stride 0, keep their order.
    Strides count elements; none may be negative.
    """
    if len(sizes) != len(strides):
        raise ValueError(f"sizes and strides must have one length, but have {len(sizes)} and {len(strides)}")
    if any(stride < 0 for stride in strides):
        raise ValueError(f"strides must not be negative, but are {list(strides)}")
    memory = sorted((axis for axis, stride in enumerate(strides) if stride), key=lambda axis: -strides[axis])
    for axis, stride in enumerate(strides):
        if stride == 0:
            memory.insert(min(axis, len(memory)), axis)
    contiguity: List[Optional[bool]] = [None] * len(sizes)
    expected = 1
    for place in reversed(range(len(memory))):
        axis = memory[place]
        if sizes[axis] != 1 and strides[axis] != 0:
            contiguity[place] = strides[axis] == expected
            expected = strides[axis] * sizes[axis]
    stride_order = [0] * len(sizes)
    for rank, axis in enumerate(reversed(memory)):
        stride_order[axis] = rank
    return contiguity, stride_order
