"""Arrays that tests give: seen only through DLPack, or not row-major."""

import numpy as np


class Exported:
    """An array seen only through DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


# Made of a row-major array of three axes.
LAYOUTS = {
    "transposed": lambda a: a.transpose(2, 0, 1),
    "stepped": lambda a: a[::2, :, ::3],
    "reversed": lambda a: a[::-1, :, ::-1],
    "expanded": lambda a: np.broadcast_to(a[:, :1], a.shape),
    "empty": lambda a: a[:, :0],
    "one": lambda a: a[:1, :1, :1],
    "readonly": lambda a: np.frombuffer(a.tobytes(), a.dtype).reshape(a.shape),
    "unaligned": lambda a: np.frombuffer(b"." + a.tobytes(), a.dtype, offset=1).reshape(a.shape),
}
