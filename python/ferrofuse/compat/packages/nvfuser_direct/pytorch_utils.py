"""`ferrofuse.pytorch_utils` by the name that nvFuser has for it."""

from ferrofuse.pytorch_utils import *  # noqa: F403
