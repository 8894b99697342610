def a_finalize_that_reduces(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.fold([x], lambda a, b: a + b, init=[0.0], dims=[1], finalize=lambda s: fd.ops.sum(s)))

# ---- expect
# 3:19: `fold`: argument `finalize` must be a lambda that computes element by element from its parameters, but is a value of the program
#     fd.add_output(fd.ops.fold([x], lambda a, b: a + b, init=[0.0], dims=[1], finalize=lambda s: fd.ops.sum(s)))
#                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ expected a lambda that computes element by element from its parameters
