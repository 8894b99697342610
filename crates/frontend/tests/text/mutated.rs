//! Valid files cut, joined and scrambled: for any bytes the reader returns a definition or a diagnostic.

use std::path::Path;

use ferrofuse_frontend::text::{NameStyle, decode, parse, print};

/// Numbers that look random and are the same on every run (Marsaglia's xorshift).
struct Xorshift(u64);

impl Xorshift {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }
}

/// Words with a meaning for the reader, and numbers at the limits.
const WORDS: [&str; 28] = [
    "(",
    ")",
    "[",
    "]",
    ",",
    "=",
    "-1",
    "0",
    "1",
    "9223372036854775807",
    "1e308",
    "None",
    "True",
    "float('nan')",
    "fd.ops.",
    "fd.ops.sum(",
    "dims=[0]",
    "[]",
    "x",
    "\n",
    "\n    ",
    "#",
    "'",
    "\"\"\"",
    "**",
    "DataType.Half",
    "fd.define_scalar()",
    "\u{00e9}",
];

fn mutate(source: &str, random: &mut Xorshift) -> Vec<u8> {
    let mut bytes = source.as_bytes().to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len());
        let end = (at + random.below(12)).min(bytes.len());
        match random.below(5) {
            0 => drop(bytes.drain(at..end)),
            1 => drop(bytes.splice(at..at, WORDS[random.below(WORDS.len())].bytes())),
            2 => drop(bytes.splice(at..end, WORDS[random.below(WORDS.len())].bytes())),
            3 => {
                let from = random.below(bytes.len());
                let piece = bytes[from..(from + random.below(40)).min(bytes.len())].to_vec();
                drop(bytes.splice(at..at, piece));
            }
            _ => bytes[at] = random.below(256) as u8,
        }
        if bytes.is_empty() {
            bytes.push(b'f');
        }
    }
    bytes
}

#[test]
fn mutated_examples_never_panic() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("the examples")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    let mut random = Xorshift(0x9e37_79b9_7f4a_7c15);
    let (mut accepted, mut rejected) = (0, 0);
    for path in paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "py")) {
        let source = std::fs::read_to_string(path).expect("a readable file");
        for _ in 0..120 {
            let bytes = mutate(&source, &mut random);
            match decode(&bytes).and_then(parse) {
                Ok(file) => {
                    let printed = print(&file.definition, NameStyle::Long);
                    let again = parse(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}"));
                    assert_eq!(print(&again.definition, NameStyle::Long), printed);
                    accepted += 1;
                }
                Err(diagnostic) => {
                    let (line, column) = diagnostic.position();
                    assert!(line >= 1 && column >= 1 && !diagnostic.message.is_empty());
                    rejected += 1;
                }
            }
        }
    }
    assert!(accepted > 50 && rejected > 50, "{accepted} accepted, {rejected} rejected");
}

#[test]
fn small_texts_of_large_meaning_are_rejected_or_cheap() {
    let deep = format!("def f(fd):\n    x = {}1{}\n", "(".repeat(5000), ")".repeat(5000));
    let wide = format!("def f(fd):\n    fd.define_tensor([{}])\n", "1,".repeat(5000));
    let huge = "def f(fd):\n    fd.add_output(fd.ops.full([9223372036854775807] * 1, 0, DataType.Float))\n"
        .to_owned();
    for source in [deep, wide, huge] {
        assert!(parse(&source).is_err(), "{}", &source[..60]);
    }
    let mut doubling = "def f(fd):\n    a = fd.define_tensor([-1])\n    c = fd.ops.size(a, 0)\n".to_owned();
    for _ in 0..200 {
        doubling.push_str("    c = c * c\n    a = a + a\n");
    }
    doubling.push_str("    fd.add_output(a)\n");
    assert!(parse(&doubling).is_ok());
}
