"""The module of nvFuser's older interface, from which clients of the newer one still import a few names."""

from nvfuser_direct import *  # noqa: F403
from nvfuser_direct import __getattr__, __version__, version  # noqa: F401
