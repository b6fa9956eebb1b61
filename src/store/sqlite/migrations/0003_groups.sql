-- Why a person wants a job ended that a runner owns; whoever owns it stops it.
ALTER TABLE ax_jobs ADD COLUMN cancelling TEXT;
CREATE INDEX ax_jobs_cancelling ON ax_jobs (owner) WHERE cancelling IS NOT NULL;
