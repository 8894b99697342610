//! Small definitions for which one kernel is seldom the best: statistics of rows and of columns that are used again, index
//! maps, ops that a library runs, boundaries of the user, costly ops.

use crate::random::Draws;

/// A definition under construction.
struct Drawn {
    lines: Vec<String>,
    /// Matrices that ops may take, newest last.
    matrices: Vec<String>,
    outputs: Vec<String>,
}

/// The text of a definition that makes `matrices` matrices from one or two.
pub fn definition(draws: &mut Draws, matrices: usize) -> String {
    let mut drawn = Drawn { lines: Vec::new(), matrices: Vec::new(), outputs: Vec::new() };
    for number in 0..draws.between(1, 2) {
        let dtype = draws.one_of(&["Float", "Float", "BFloat16"]);
        let given = format!("fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.{dtype})");
        drawn.define(&format!("x{number}"), &given);
        drawn.matrices.push(format!("x{number}"));
    }
    for number in 0..matrices {
        let made = drawn.matrix(draws, &format!("y{number}"));
        drawn.matrices.push(made);
    }
    let last = drawn.matrices.last().cloned();
    drawn.outputs.extend(last);
    if draws.percent(40) {
        let other = draws.one_of(&drawn.matrices[drawn.matrices.len() - 2..]);
        drawn.outputs.push(other);
    }
    drawn.text()
}

impl Drawn {
    fn define(&mut self, name: &str, value: &str) {
        self.lines.push(format!("{name} = {value}"));
    }

    fn recent(&self, draws: &mut Draws) -> String {
        let first = self.matrices.len().saturating_sub(3);
        draws.one_of(&self.matrices[first..])
    }

    /// Defines one more matrix, possibly through a vector.
    fn matrix(&mut self, draws: &mut Draws, name: &str) -> String {
        let (x, other) = (self.recent(draws), self.recent(draws));
        let axis = draws.below(2);
        let value = match draws.below(100) {
            0..34 => {
                let fold = draws.one_of(&["sum", "max", "mean"]);
                self.define(&format!("{name}s"), &format!("fd.ops.{fold}({x}, dims=[{axis}], keepdim=True)"));
                if draws.percent(15) {
                    self.outputs.push(format!("{name}s"));
                }
                let op = draws.one_of(&["sub", "mul"]);
                format!("fd.ops.{op}({other}, {name}s)")
            }
            34..52 => format!("fd.ops.{}({x}, {other})", draws.one_of(&["add", "mul", "maximum"])),
            52..66 => format!("fd.ops.{}({x})", draws.one_of(&["neg", "relu", "exp", "tanh"])),
            66..74 => format!("fd.ops.{}({x})", draws.one_of(&["lgamma", "erfcinv"])),
            74..82 => {
                let dtype = draws.one_of(&["Float", "BFloat16", "Half"]);
                format!("fd.ops.cast({x}, dtype=DataType.{dtype})")
            }
            82..86 => format!("fd.ops.pad({x}, {}, 0.0)", draws.one_of(&["[1, -1]", "[-1, 1, 1, -1]"])),
            86..90 => {
                let [last, first, sizes] = ["l", "f", "n"].map(|part| format!("{name}{part}"));
                self.define(&format!("{sizes}0"), &format!("fd.ops.size({x}, 0)"));
                self.define(&format!("{sizes}1"), &format!("fd.ops.size({x}, 1)"));
                let (begin, end) = if axis == 0 {
                    ("[1, 0]", format!("[1, {sizes}1]"))
                } else {
                    ("[0, 1]", format!("[{sizes}0, 1]"))
                };
                self.define(&last, &format!("fd.ops.slice({x}, {begin}, [{sizes}0, {sizes}1])"));
                self.define(&first, &format!("fd.ops.slice({x}, [0, 0], {end})"));
                format!("fd.ops.cat([{last}, {first}], dim={axis})")
            }
            90..94 => format!("fd.ops.segment_set({x})"),
            94..97 => format!("fd.ops.cumsum({x}, {axis})"),
            _ => {
                self.define(&format!("{name}i"), &format!("fd.ops.argsort({x}, dim={axis})"));
                format!("fd.ops.cast({name}i, dtype=DataType.Float)")
            }
        };
        self.define(name, &value);
        name.to_owned()
    }

    fn text(mut self) -> String {
        self.outputs.dedup();
        let outputs = self.outputs.iter().map(|output| format!("fd.add_output({output})"));
        let lines: Vec<String> = self.lines.iter().cloned().chain(outputs).collect();
        format!("def drawn(fd):\n    {}\n", lines.join("\n    "))
    }
}
