"""What all tests share: none of them reads or leaves machine code in the user's cache."""

import os

os.environ["FERROFUSE_CACHE"] = "none"
