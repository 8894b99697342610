"""`ferrofuse.nvfuser_direct_version` by the name that nvFuser has for it."""

from ferrofuse.nvfuser_direct_version import NvfuserVersion, Version, __version__, version  # noqa: F401
