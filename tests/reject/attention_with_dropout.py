def f(fd):
    q = fd.define_tensor(shape=[-1, -1, -1, -1], contiguity=True)
    output, sums, seed, offset = fd.ops.sdpfa_fwd(q, q, q, dropout_p=1.5)
    fd.add_output(output)

# ---- expect
# 3:70: `sdpfa_fwd`: argument `dropout_p` must be a probability, from 0 to 1, but is the number 1.5
#     output, sums, seed, offset = fd.ops.sdpfa_fwd(q, q, q, dropout_p=1.5)
#                                                                      ^^^ expected a probability, from 0 to 1
