//! Jobs in one `SQLite` file.
