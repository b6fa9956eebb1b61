//! Pages that were written over.

use std::fs;
use std::os::unix::fs::FileExt;

use super::super::harness::Desk;

const PAGE: usize = 4096;

/// A database with something in every table, and its pages.
fn written() -> (Desk, Vec<u8>) {
    let desk = Desk::new();
    desk.add(&["-r", "0", "-n", "a"], "echo out; exit 1");
    for _ in 0..40 {
        desk.add(&["--after-any", "1"], "echo out");
    }
    assert_eq!(desk.run(&["--once", "--workers", "2"]).exit(), 1);
    desk.add(&["--hold"], "true");
    let pages = fs::read(desk.db()).expect("a file");
    (desk, pages)
}

/// Whatever page is written over, every command answers, or says in words what
/// is wrong and who looks closer; and the doctor finds it.
#[test]
fn a_page_that_was_written_over_is_found_and_nobody_stumbles() {
    let (desk, pages) = written();
    for page in 0..pages.len() / PAGE {
        for fill in [0x00, 0xa5] {
            fs::write(desk.db(), &pages).expect("written");
            let file = fs::OpenOptions::new().write(true).open(desk.db()).expect("a file");
            file.write_all_at(&[fill; PAGE], (page * PAGE) as u64).expect("written");
            let doctor = desk.ax(&["doctor"]);
            assert!([1, 5].contains(&doctor.exit), "page {page}: the doctor finds nothing");
            for words in [&["list", "all"][..], &["show", "1"], &["add", "true"], &["retry", "1"]] {
                let said = desk.ax(words);
                let text = format!("page {page} of {fill}, {words:?}: {}", said.err);
                assert!([0, 1, 3, 4, 5].contains(&said.exit), "{text}");
                let raw = ["malformed", "not a database (", "SQL", "panicked", "corrupt"];
                assert!(raw.iter().all(|word| !said.err.contains(word)), "{text}");
                assert!(said.exit != 5 || said.err.contains("ax doctor"), "{text}");
            }
        }
    }
}
