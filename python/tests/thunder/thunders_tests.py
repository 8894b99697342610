"""Thunder's own tests as its package contains them, with the CPU in the place of CUDA."""

import re
from pathlib import Path

import thunder.tests

DEVICES = [
    (r'"cuda"', '"cpu"'),
    (r"\bDeviceType\.CUDA\b", "DeviceType.CPU"),
    (r"devices=\[torch\.cuda\.current_device\(\)\]", "devices=[]"),
]


def on_cpu(name: str) -> object:
    """The code of a file of Thunder's tests."""
    path = Path(thunder.tests.__file__).parent / f"{name}.py"
    text = path.read_text()
    for device, replacement in DEVICES:
        text = re.sub(device, replacement, text)
    return compile(text, path, "exec")
