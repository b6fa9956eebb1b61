-- Jobs that a command (process pid) handed to a runner, so that only one of the
-- two puts each in: what became of it. Gone soon after the command has ended.
CREATE TABLE ax_handed (
    token  INTEGER PRIMARY KEY,
    runner INTEGER NOT NULL,
    pid    INTEGER NOT NULL,
    job_id INTEGER NOT NULL,
    new    INTEGER NOT NULL CHECK (new IN (0, 1))
) STRICT;
