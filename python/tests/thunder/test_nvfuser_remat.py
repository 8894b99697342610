"""Thunder's own tests of what it computes twice rather than keeps, between fusions."""

from thunders_tests import on_cpu

exec(on_cpu("test_nvfuser_remat"), globals())
