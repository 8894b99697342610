def f(fd):
    q = fd.define_tensor(shape=[-1, -1, -1, -1], contiguity=True)
    output, sums, seed, offset = fd.ops.sdpfa_fwd(q, q, q, dropout_p=0.5)
    fd.add_output(output)

# ---- expect
# 3:70: `sdpfa_fwd`: argument `dropout_p` must be the constant 0: attention with dropout is not there yet, but is the number 0.5
#     output, sums, seed, offset = fd.ops.sdpfa_fwd(q, q, q, dropout_p=0.5)
#                                                                      ^^^ expected the constant 0: attention with dropout is not there yet
