//! The scheduler without processes: fakes on the far sides of its seams, a real
//! database behind the store.

mod drive;
mod fakes;
mod hooks;
mod play;
mod recovering;
mod turn;
