//! The file under stress, from the outside: held locks, long readers, full and
//! read-only disks, damage, links and foreign files in its place.

mod damage;
mod disks;
mod files;
mod locks;
