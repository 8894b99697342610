//! An explanation as a picture and as a page, for Python.

use ferrofuse::{Explanation, difference, fragment, html, svg};
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

/// An HTML page, or a part of one, with other explanations to compare with, each with its name.
#[pyfunction]
pub fn explanation_html(
    encoded: &str,
    title: &str,
    is_page: bool,
    others: Vec<(String, String)>,
) -> PyResult<String> {
    let explanation = read(encoded)?;
    let others = others.into_iter().map(|(name, encoded)| Ok((name, read(&encoded)?)));
    let others: Vec<(String, Explanation)> = others.collect::<PyResult<_>>()?;
    let others: Vec<(&str, &Explanation)> =
        others.iter().map(|(name, other)| (name.as_str(), other)).collect();
    Ok(if is_page { html(&explanation, title, &others) } else { fragment(&explanation, title, &others) })
}

/// The differences between two explanations, in words.
#[pyfunction]
pub fn explanation_difference(first: &str, second: &str, name: &str) -> PyResult<String> {
    Ok(difference(&read(first)?, &read(second)?).lines("this", name))
}
