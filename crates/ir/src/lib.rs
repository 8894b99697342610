//! What a program is: graphs, views, kernels, their texts and their meaning. No backend, no I/O.
