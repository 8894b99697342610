//! Tests over every row of the tables.

mod composites;
mod monoids;
mod primitives;
mod rules;
