"""Thunder's own tests of its nvFuser executor."""

from thunders_tests import on_cpu

exec(on_cpu("test_nvfuser"), globals())
