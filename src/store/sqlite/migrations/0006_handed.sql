-- Jobs that a command handed to a runner, so that only one of the two puts each
-- in: what became of it. Gone as soon as the command has its answer, or its
-- runner is struck out.
CREATE TABLE ax_handed (
    token  INTEGER PRIMARY KEY,
    runner INTEGER NOT NULL,
    job_id INTEGER NOT NULL,
    new    INTEGER NOT NULL CHECK (new IN (0, 1))
) STRICT;
