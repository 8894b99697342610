# The words of Philox 4x32-10 that come with Random123: of counter and key zero, and of the digits of pi.
def known_answers(fd):
    zeros = fd.ops.philox(0, 0, fd.ops.iota(4))
    first = 991298862883154104
    pi = fd.ops.philox(2999170649027065890, -8817193942522041720, fd.ops.iota(4, first))
    fd.add_output(zeros)
    fd.add_output(pi)


inputs = []

# ---- expect
# i64[4] = 1713891541, 3781805453, 3159862348, 2600524760
# i64[4] = 3513581065, 2499661035, 1342301216, 605187745
