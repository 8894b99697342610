//! The languages of the C family that kernels are written in, and the machines that each is for.

use codegen_c::c::Dialect;
use codegen_c::cuda::CUDA;
use target::{GPUS, GpuModel};

/// A language.
pub(crate) struct Language {
    /// Its name, and that of the stage that prints it.
    pub name: &'static str,
    pub dialect: &'static Dialect,
    /// The machine that code is made for if none is named.
    pub usual_target: &'static str,
    /// The machines that it is for. The name of an architecture stands for its first machine.
    pub models: &'static [GpuModel],
}

/// CUDA C++.
pub(crate) const CUDA_CPP: Language =
    Language { name: "cuda", dialect: &CUDA, usual_target: "sm_90", models: &GPUS };

/// All languages.
pub(crate) static LANGUAGES: [Language; 1] = [CUDA_CPP];

impl Language {
    /// The language of this name.
    pub fn named(name: &str) -> Option<&'static Language> {
        LANGUAGES.iter().find(|language| language.name == name)
    }

    /// The machine of this name, or the one that an architecture's name stands for, with its language.
    pub fn of(target: &str) -> Option<(&'static Language, &'static GpuModel)> {
        let find = |is_meant: fn(&GpuModel, &str) -> bool| {
            LANGUAGES.iter().find_map(|language| {
                Some((language, language.models.iter().find(|model| is_meant(model, target))?))
            })
        };
        find(|model, name| model.name == name).or_else(|| find(|model, name| model.architecture == name))
    }
}
