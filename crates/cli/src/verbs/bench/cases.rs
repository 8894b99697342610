//! The cases that are measured: workloads, each at some sizes of its symbols.

use std::collections::BTreeSet;
use std::fmt;

use ferrofuse::{Definition, File, read};
use frontend::text::InputSpec;

use super::workloads::{SQUARE, WORKLOADS, Workload};
use crate::failure::Failure;
use crate::inputs::check_once;

/// Elements of the sweep over columns.
const ELEMENTS: i64 = 16 << 20;
/// Columns of the sweep over rows.
const COLUMNS: i64 = 4096;
/// The default workloads of a sweep: a map, folds over rows and over columns.
const SWEPT: [&str; 4] = ["silu_mul_bf16", "softmax_bf16", "layer_norm_bf16", "sum_outer_f32"];

/// A workload at some sizes.
#[derive(Clone, Debug)]
pub struct Case {
    pub workload: &'static Workload,
    /// The sizes of symbols, by the names at their first use; otherwise those of the file.
    pub sizes: Vec<(String, i64)>,
}

impl Case {
    /// Its definition file, and the specs of the file's inputs with the sizes of the case.
    pub fn read(&self) -> (File, Vec<InputSpec>) {
        let file =
            read(self.workload.source).expect("the workloads are definition files; a test reads them all");
        let specs = file.inputs.clone().expect("the workloads list their inputs");
        let wanted =
            |symbol: &str| self.sizes.iter().find(|(name, _)| *name == symbol).map(|(_, size)| *size);
        let inputs = file.definition.fusion.inputs();
        let resized = |(spec, &val): (&InputSpec, &ir::graph::Val)| {
            let facts = file.definition.fusion.facts();
            let shape = file.definition.graph.shape(val);
            resize(spec, &|axis, old| {
                let expr = facts.normalize(&shape[axis]);
                expr.as_sym().and_then(|symbol| wanted(&symbol.to_string())).unwrap_or(old)
            })
        };
        let specs = specs.iter().zip(inputs).map(resized).collect();
        (file, specs)
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.workload.id)?;
        self.sizes.iter().try_for_each(|(name, size)| write!(f, " {name}={size}"))
    }
}

/// A spec with other sizes: expanded axes stay expanded, all others are dense.
pub fn resize(spec: &InputSpec, size: &dyn Fn(usize, i64) -> i64) -> InputSpec {
    let InputSpec::Tensor(spec) = spec else { return spec.clone() };
    let mut spec = spec.clone();
    let mut stride = 1;
    for axis in (0..spec.sizes.len()).rev() {
        spec.sizes[axis] = size(axis, spec.sizes[axis]);
        if spec.strides[axis] != 0 {
            spec.strides[axis] = stride;
            stride *= spec.sizes[axis];
        }
    }
    spec.storage = stride;
    InputSpec::Tensor(spec)
}

/// The cases for these names, or the default ones.
///
/// # Errors
/// For a name of no workload, and for a workload without rows and columns to sweep.
pub fn choose(ids: &[String], sweep: bool, sizes: &[(String, i64)]) -> Result<Vec<Case>, Failure> {
    let chosen: Vec<&Workload> = match (ids, sweep) {
        ([], false) => WORKLOADS.iter().collect(),
        ([], true) => SWEPT.iter().map(|id| find(id)).collect::<Result<_, _>>()?,
        _ => ids.iter().map(|id| find(id)).collect::<Result<_, _>>()?,
    };
    let cases = chosen.into_iter().map(|workload| match sweep {
        true => swept(workload),
        false => Ok(vec![Case { workload, sizes: sizes_of(workload, sizes)? }]),
    });
    Ok(cases.collect::<Result<Vec<_>, _>>()?.concat())
}

/// The requested sizes, and otherwise the workload's own.
fn sizes_of(workload: &Workload, asked: &[(String, i64)]) -> Result<Vec<(String, i64)>, Failure> {
    check_once("--size", asked.iter().map(|(name, _)| name.as_str()))?;
    let symbols = symbols(workload);
    if let Some((name, _)) = asked.iter().find(|(name, _)| !symbols.contains(name)) {
        let reason = format!("`{}` has no size `{name}`", workload.id);
        return Err(Failure::user_with_help(reason, format!("it has {}", symbols.join(", "))));
    }
    let own = workload.sizes.iter().map(|&(name, size)| (name.to_owned(), size));
    let others = own.filter(|(name, _)| !asked.iter().any(|(known, _)| known == name));
    Ok(asked.iter().cloned().chain(others).collect())
}

/// The names of the sizes of a workload's inputs.
fn symbols(workload: &Workload) -> Vec<String> {
    let Definition { graph, fusion, .. } =
        read(workload.source).expect("the workloads are definition files; a test reads them all").definition;
    let shapes = fusion.inputs().iter().flat_map(|&val| graph.shape(val));
    let symbols = shapes.filter_map(|size| fusion.facts().normalize(size).as_sym());
    let names: BTreeSet<String> = symbols.map(|symbol| symbol.to_string()).collect();
    names.into_iter().collect()
}

fn find(id: &str) -> Result<&'static Workload, Failure> {
    WORKLOADS.iter().find(|workload| workload.id == id).ok_or_else(|| {
        let known: Vec<&str> = WORKLOADS.iter().map(|workload| workload.id).collect();
        Failure::user_with_help(
            format!("there is no workload `{id}`"),
            format!("there are {}", known.join(", ")),
        )
    })
}

fn swept(workload: &'static Workload) -> Result<Vec<Case>, Failure> {
    if workload.sizes != SQUARE {
        return Err(Failure::user(format!("`{}` has no rows and columns to sweep over", workload.id)));
    }
    let wide = (6..=16).map(|power| (ELEMENTS >> power, 1 << power));
    let short = (0..=6).map(|power| (1 << power, COLUMNS));
    let case =
        |(rows, columns)| Case { workload, sizes: vec![("i0".to_owned(), rows), ("i1".to_owned(), columns)] };
    Ok(wide.chain(short).map(case).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_reads_and_has_its_sizes() {
        let swept = choose(&[], true, &[]).unwrap_or_else(|_| panic!("the usual workloads can be swept"));
        for case in
            choose(&[], false, &[]).unwrap_or_else(|_| panic!("all workloads")).into_iter().chain(swept)
        {
            let (_, specs) = case.read();
            for (name, size) in &case.sizes {
                let has =
                    |spec: &InputSpec| matches!(spec, InputSpec::Tensor(spec) if spec.sizes.contains(size));
                assert!(specs.iter().any(has), "{case}: {name}");
            }
        }
    }

    /// Where none are asked for: those of the file.
    #[test]
    fn rope_has_the_sizes_of_its_file() {
        let cases = choose(&["rope_bf16".to_owned()], false, &[]).unwrap_or_else(|_| panic!("a workload"));
        let (_, specs) = cases[0].read();
        assert!(matches!(&specs[0], InputSpec::Tensor(spec) if spec.sizes == [1, 32, 1024, 128]));
    }

    #[test]
    fn what_is_not_square_is_not_swept() {
        assert!(choose(&["rope_bf16".to_owned()], true, &[]).is_err());
    }
}
