//! A fusion compiler for tensor programs: define, compile, run.
