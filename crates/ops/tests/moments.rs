//! Variants of the moments of two runs are recognized, in any order of operands, and near misses are not.

use proptest::prelude::*;

use ferrofuse_ops::body_text::parse;
use ferrofuse_ops::{MomentStates, moments};

/// A body under construction: mean, squared deviations and count of one run, then of the other.
struct Spelled {
    steps: Vec<String>,
    /// The remaining random choices, low bits first.
    choices: u64,
}

const MEAN_A: usize = 0;
const SQUARES_A: usize = 1;
const COUNT_A: usize = 2;
const MEAN_B: usize = 3;
const SQUARES_B: usize = 4;
const COUNT_B: usize = 5;

impl Spelled {
    fn new(choices: u64) -> Spelled {
        Spelled { steps: Vec::new(), choices }
    }

    fn one_of(&mut self, count: u64) -> u64 {
        let chosen = self.choices % count;
        self.choices /= count;
        chosen
    }

    fn step(&mut self, text: &str) -> usize {
        let number = 6 + self.steps.len();
        self.steps.push(format!("p{number} = {text}"));
        number
    }

    fn number(&mut self, value: &str) -> usize {
        self.step(&format!("const f32 {value}"))
    }

    fn apply(&mut self, op: &str, a: usize, b: usize) -> usize {
        self.step(&format!("{op} p{a}, p{b}"))
    }

    /// A sum or product, in either order.
    fn swapped(&mut self, op: &str, a: usize, b: usize) -> usize {
        let [a, b] = if self.one_of(2) == 0 { [a, b] } else { [b, a] };
        self.apply(op, a, b)
    }

    /// A sum or product of three, grouped in some way.
    fn three(&mut self, op: &str, a: usize, b: usize, c: usize) -> usize {
        let [a, b, c] = [[a, b, c], [b, c, a], [c, a, b]][self.one_of(3) as usize];
        let first = self.swapped(op, a, b);
        self.swapped(op, first, c)
    }

    /// `value / count`, the count guarded or not.
    fn divided(&mut self, value: usize, count: usize) -> usize {
        let (zero, one) = (self.number("0.0"), self.number("1.0"));
        let guarded = match self.one_of(3) {
            0 => count,
            1 => self.swapped("maximum", count, one),
            _ => {
                let is_empty = self.apply("le", count, zero);
                self.step(&format!("where p{is_empty}, p{one}, p{count}"))
            }
        };
        if self.one_of(2) == 0 {
            return self.apply("div", value, guarded);
        }
        let reciprocal = self.step(&format!("reciprocal p{guarded}"));
        self.swapped("mul", value, reciprocal)
    }

    fn mean(&mut self, count: usize) -> usize {
        let apart = self.apply("sub", MEAN_B, MEAN_A);
        match self.one_of(4) {
            0 => {
                let share = self.divided(COUNT_B, count);
                let moved = self.swapped("mul", share, apart);
                self.swapped("add", MEAN_A, moved)
            }
            1 => {
                let weighted = self.swapped("mul", COUNT_A, apart);
                let moved = self.divided(weighted, count);
                self.apply("sub", MEAN_B, moved)
            }
            2 => {
                let [a, b] =
                    [[COUNT_A, MEAN_A], [COUNT_B, MEAN_B]].map(|[n, mean]| self.swapped("mul", n, mean));
                let total = self.swapped("add", a, b);
                self.divided(total, count)
            }
            _ => {
                let [a, b] = [[COUNT_A, MEAN_A], [COUNT_B, MEAN_B]].map(|[n, mean]| {
                    let share = self.divided(n, count);
                    self.swapped("mul", share, mean)
                });
                self.swapped("add", a, b)
            }
        }
    }

    fn between(&mut self, mean: usize, count: usize) -> usize {
        let apart = match self.one_of(2) {
            0 => self.apply("sub", MEAN_B, MEAN_A),
            _ => self.apply("sub", MEAN_A, MEAN_B),
        };
        match self.one_of(4) {
            0 => {
                let both = self.swapped("mul", COUNT_A, COUNT_B);
                let share = self.divided(both, count);
                self.three("mul", apart, apart, share)
            }
            1 => {
                let share = self.divided(COUNT_A, count);
                let product = self.three("mul", apart, apart, share);
                self.swapped("mul", product, COUNT_B)
            }
            2 => {
                let two = self.number("2.0");
                let square = self.apply("pow", apart, two);
                let product = self.three("mul", COUNT_A, COUNT_B, square);
                self.divided(product, count)
            }
            // Welford's: the deviation from the old mean by that from the new one.
            _ => {
                let [old, new] = [MEAN_A, mean].map(|mean| self.apply("sub", MEAN_B, mean));
                self.three("mul", old, new, COUNT_B)
            }
        }
    }

    /// The moment of one run if the other is empty, otherwise the combined one.
    fn guarded(&mut self, combined: usize, own: [usize; 2]) -> usize {
        let zero = self.number("0.0");
        let is_empty = self.apply("eq", COUNT_B, zero);
        let guarded = self.step(&format!("where p{is_empty}, p{}, p{combined}", own[0]));
        let has_elements = self.apply("gt", COUNT_A, zero);
        self.step(&format!("where p{has_elements}, p{guarded}, p{}", own[1]))
    }

    fn chan(mut self) -> String {
        let count = self.swapped("add", COUNT_A, COUNT_B);
        let mean = self.mean(count);
        let between = self.between(mean, count);
        let squares = self.three("add", SQUARES_A, SQUARES_B, between);
        let [mean, squares] = match self.one_of(2) {
            0 => [mean, squares],
            _ => [self.guarded(mean, [MEAN_A, MEAN_B]), self.guarded(squares, [SQUARES_A, SQUARES_B])],
        };
        format!("f32 0.0, f32 0.0, f32 0.0; {}; p{mean}, p{squares}, p{count}", self.steps.join("; "))
    }
}

fn found(text: &str) -> Option<MomentStates> {
    moments(&parse(text).unwrap_or_else(|| panic!("{text}")))
}

proptest! {
    #[test]
    fn spellings_of_the_moments_of_two_runs_are_found(choices in any::<u64>()) {
        let text = Spelled::new(choices).chan();
        prop_assert_eq!(found(&text), Some(MomentStates { mean: 0, squares: 1, count: 2 }), "{}", text);
    }

    /// One step of a variant is replaced: if it is still recognized, it gives the same numbers.
    #[test]
    fn what_is_found_gives_the_moments(choices in any::<u64>(), place in 0..64_usize, other in 0..6_usize) {
        let ops = ["add", "sub", "mul", "div", "maximum", "minimum"];
        let text = Spelled::new(choices).chan();
        let mut parts: Vec<String> = text.split("; ").map(str::to_owned).collect();
        let place = 1 + place % (parts.len() - 2);
        let old = ops.iter().find(|op| parts[place].contains(&format!("= {op} ")));
        prop_assume!(old.is_some_and(|old| *old != ops[other]));
        parts[place] = parts[place].replace(&format!("= {} ", old.unwrap()), &format!("= {} ", ops[other]));
        let text = parts.join("; ");
        if found(&text).is_some() {
            prop_assert!(gives_moments(&text), "{}", text);
        }
    }
}

/// Whether a body gives the moments of some runs, empty ones among them.
fn gives_moments(text: &str) -> bool {
    let lambda = parse(text).unwrap();
    let runs: [&[f64]; 5] = [&[], &[3.0], &[-2.5, 1.0], &[0.5, 0.25, 8.0], &[7.0, 7.0, -1.0, 2.0]];
    let of = |run: &[f64]| {
        let count = run.len() as f64;
        let mean = if run.is_empty() { 0.0 } else { run.iter().sum::<f64>() / count };
        [mean, run.iter().map(|x| (x - mean).powi(2)).sum(), count]
    };
    let pairs = runs.iter().flat_map(|a| runs.iter().map(move |b| (*a, *b)));
    pairs.filter(|(a, b)| a.len() + b.len() > 0).all(|(a, b)| {
        let params = [of(a), of(b)].concat();
        let results = lambda.body().eval(&mut Doubles, &params);
        results
            .iter()
            .zip(of(&[a, b].concat()))
            .all(|(result, own)| (result - own).abs() <= 1e-9 * (1.0 + own.abs()))
    })
}

/// Arithmetic of doubles; truths are 0 and 1.
struct Doubles;

impl ferrofuse_ops::Arith for Doubles {
    type V = f64;

    fn apply(&mut self, op: ferrofuse_ops::ScalarOp, args: &[f64]) -> f64 {
        op.of_reals(args)
    }

    fn constant(&mut self, value: f64) -> f64 {
        value
    }
}

impl ferrofuse_ops::BodyArith for Doubles {
    fn scalar(&mut self, constant: ferrofuse_ops::Scalar) -> f64 {
        constant.as_f64()
    }

    fn cast(&mut self, value: &f64, _: ferrofuse_ops::DType, _: ferrofuse_ops::DType) -> f64 {
        *value
    }
}

/// Chan's combine with some parts of the text replaced.
fn replaced(parts: &[(&str, &str)]) -> Option<MomentStates> {
    let text = "f32 0.0, f32 0.0, f32 0.0; p6 = sub p3, p0; p7 = add p2, p5; p8 = const f32 1.0; \
                p9 = maximum p7, p8; p10 = div p5, p9; p11 = mul p6, p10; p12 = add p0, p11; p13 = add p1, p4; \
                p14 = mul p6, p6; p15 = mul p2, p5; p16 = div p15, p9; p17 = mul p14, p16; p18 = add p13, p17; \
                p12, p18, p7";
    let replaced = parts.iter().fold(text.to_owned(), |text, (old, new)| {
        assert!(text.contains(old), "{old}");
        text.replace(old, new)
    });
    found(&replaced)
}

#[test]
fn near_misses_are_left_alone() {
    assert!(replaced(&[]).is_some());
    let misses = [
        ("p12 = add p0, p11", "p12 = sub p0, p11"),
        ("p18 = add p13, p17", "p18 = sub p13, p17"),
        ("p6 = sub p3, p0", "p6 = add p3, p0"),
        // The count of one run twice.
        ("p15 = mul p2, p5", "p15 = mul p2, p2"),
        ("p10 = div p5, p9", "p10 = div p2, p9"),
        // One element less, within.
        (
            "p7 = add p2, p5; p8 = const f32 1.0; p9 = maximum p7, p8",
            "p7 = add p2, p5; p8 = const f32 1.0; p9 = sub p7, p8",
        ),
        // Guards that change what runs of one or two elements give.
        ("p8 = const f32 1.0", "p8 = const f32 3.0"),
        ("p9 = maximum p7, p8", "p9 = minimum p7, p8"),
        ("p9 = maximum p7, p8", "p9 = add p7, p8"),
        // The variance in place of the squares, a sum in place of the mean.
        ("p18 = add p13, p17", "p18 = div p17, p9"),
        ("p12 = add p0, p11", "p12 = add p0, p3"),
        ("p13 = add p1, p4", "p13 = add p1, p1"),
        ("f32 0.0, f32 0.0, f32 0.0", "f32 0.0, f32 0.0, f32 1.0"),
        ("f32 0.0, f32 0.0, f32 0.0", "f32 0.0, f32 1.0, f32 0.0"),
        // Bodies that skip NaN: neither a number's difference from itself nor which of two is larger is known.
        ("p12, p18, p7", "p19 = ne p3, p3; p20 = where p19, p0, p12; p20, p18, p7"),
        (
            "p12, p18, p7",
            "p19 = sub p3, p3; p20 = const f32 0.0; p21 = eq p19, p20; p22 = where p21, p12, p0; p22, p18, p7",
        ),
        ("p12, p18, p7", "p19 = mul p3, p3; p20 = maximum p19, p19; p21 = minimum p20, p18; p12, p21, p7"),
        // Numbers that absorb others.
        ("p12, p18, p7", "p19 = const f32 1e9; p20 = add p12, p19; p21 = sub p20, p19; p21, p18, p7"),
        (
            "p12, p18, p7",
            "p19 = const f32 1e8; p20 = add p7, p19; p21 = gt p20, p19; p22 = where p21, p12, p0; p22, p18, p7",
        ),
        ("p12, p18, p7", "p12, p7, p18"),
        ("p12, p18, p7", "p0, p18, p7"),
    ];
    for miss in misses {
        assert_eq!(replaced(&[miss]), None, "{miss:?}");
    }
}

/// Counts may be integers, states in another order.
#[test]
fn counts_may_be_integers() {
    let text = |init: &str, wide: &str| {
        format!(
            "{init}; p6 = sub p5, p2; p7 = add p0, p3; p8 = cast {wide} p7; p9 = cast {wide} p3; p10 = cast {wide} p0; \
             p11 = div p9, p8; p12 = mul p6, p11; p13 = add p2, p12; p14 = add p1, p4; p15 = mul p6, p12; \
             p16 = mul p15, p10; p17 = add p14, p16; p7, p17, p13"
        )
    };
    let states = Some(MomentStates { mean: 2, squares: 1, count: 0 });
    assert_eq!(found(&text("i64 0, f32 0.0, f32 0.0", "f32")), states);
    assert_eq!(found(&text("i32 0, f64 0.0, f64 0.0", "f64")), states);
    // A wrapping number is no count.
    let wraps = text("i32 0, f32 0.0, f32 0.0", "f32").replace("p7 = add p0, p3", "p7 = mul p0, p3");
    assert_eq!(found(&wraps), None);
}
