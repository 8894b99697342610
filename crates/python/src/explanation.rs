//! An explanation as a picture and as a page, for Python.

use ferrofuse::{Explanation, fragment, html, svg};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

fn read(encoded: &str) -> PyResult<Explanation> {
    serde_json::from_str(encoded).map_err(|error| PyValueError::new_err(format!("no explanation: {error}")))
}

/// The segment graph as an SVG document.
#[pyfunction]
pub fn explanation_svg(encoded: &str) -> PyResult<String> {
    Ok(svg(&read(encoded)?))
}

/// A page of HTML, or a part of one.
#[pyfunction]
pub fn explanation_html(encoded: &str, title: &str, is_page: bool) -> PyResult<String> {
    let explanation = read(encoded)?;
    Ok(if is_page { html(&explanation, title, &[]) } else { fragment(&explanation, title, &[]) })
}
