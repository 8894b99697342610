//! Tests over every row of the tables.

mod composites;
