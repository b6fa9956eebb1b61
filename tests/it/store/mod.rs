//! The store, asked through its trait: what every backend owes, and what
//! `SQLite` owes besides.

pub(crate) mod bench;
pub(crate) mod by_hand;
mod conformance;
mod nonsense;
mod opening;
mod schemas;
mod thrift;
