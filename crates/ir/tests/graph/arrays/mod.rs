//! Arrays: their layouts, elements, memory and views.

mod argument;
mod element;
mod layout;
mod owned;
mod view;
