//! A wall clock that a test sets, for programs that run: the monotonic one goes
//! on. A machine that was suspended looks the same to them.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::Command;

use super::Desk;

/// Goes before the C library and adds what the file says to the wall clock.
const SHIM: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static volatile long *ahead;
__attribute__((constructor)) static void look(void) {
    int file = open(getenv("CLOCK_AHEAD"), O_RDONLY | O_CLOEXEC);
    void *seen = mmap(0, sizeof *ahead, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (seen != MAP_FAILED) ahead = seen;
}
int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int said = real(clock, time);
    if (clock == CLOCK_REALTIME && ahead) time->tv_sec += *ahead;
    return said;
}
int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    struct timespec now;
    (void)zone;
    int said = clock_gettime(CLOCK_REALTIME, &now);
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return said;
}
"#;

/// A wall clock.
pub(crate) struct Clock {
    shim: PathBuf,
    path: PathBuf,
    file: File,
}

impl Clock {
    /// One that is right.
    pub(crate) fn new(desk: &Desk) -> Self {
        let (source, shim) = (desk.file("clock.c"), desk.file("clock.so"));
        fs::write(&source, SHIM).expect("a file can be made");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-o"]).args([&shim, &source]).arg("-ldl");
        assert!(compiler.status().expect("there is a C compiler").success());
        let path = desk.file("clock");
        let file = File::create(&path).expect("a file can be made");
        let clock = Self { shim, path, file };
        clock.set_ahead(0);
        clock
    }

    /// Sets it so many seconds before the right time, or behind it.
    pub(crate) fn set_ahead(&self, seconds: i64) {
        self.file.write_all_at(&seconds.to_ne_bytes(), 0).expect("it can be written");
    }

    /// Lets a program, and what it starts, go by this clock.
    pub(crate) fn rules(&self, command: &mut Command) {
        command.env("LD_PRELOAD", &self.shim).env("CLOCK_AHEAD", &self.path);
    }
}
