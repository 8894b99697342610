"""`@ferrofuse.fuse` and `ferrofuse.autograd`: functions of arrays, traced as they are called."""
