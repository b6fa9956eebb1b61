//! What a store promises: one function a promise, owed by every backend.
//!
//! A promise takes a [`Bench`](super::bench::Bench) with a fresh store on it
//! and is listed in the `promises!` of its file, which makes a test of it for
//! each backend. A new backend is one more line in that macro.

/// Makes a test of every promise, for every backend.
macro_rules! promises {
    ($($promise:ident),+ $(,)?) => {
        mod sqlite {
            $(
                #[test]
                fn $promise() {
                    super::$promise(&mut crate::store::bench::Bench::sqlite());
                }
            )+
        }
    };
}

mod adding;
mod cancelling;
mod chains;
mod claiming;
mod dependencies;
mod editing;
mod failures;
mod families;
mod glances;
mod handing;
mod hooks;
mod keys;
mod later;
mod limits;
mod linking;
mod overdue;
mod people;
mod pruning;
mod reading;
mod revival;
mod runners;
mod schedules;
mod settling;
mod time;
mod together;
