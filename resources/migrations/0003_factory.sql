-- Rows of a dataset may have several rollouts. prompts.idx counts rollouts: row idx / rollouts, rollout idx % rollouts.
ALTER TABLE trajectories ADD COLUMN rollout INTEGER NOT NULL DEFAULT 0;
DROP INDEX trajectories_by_prompt;
CREATE UNIQUE INDEX trajectories_by_prompt ON trajectories (run_id, prompt_index, rollout) WHERE run_id IS NOT NULL;

-- reward: the weighted sum of its scores; rating: a person's, 1 to 5. Copies for lists, kept up with the table scores.
ALTER TABLE trajectories ADD COLUMN reward REAL;
ALTER TABLE trajectories ADD COLUMN rating INTEGER;

-- One row per rule (or person) that scored a trajectory. value is null when the rule could not say; detail (JSON) tells why.
CREATE TABLE scores (
  trajectory_n INTEGER NOT NULL REFERENCES trajectories(n) ON DELETE CASCADE,
  name TEXT NOT NULL,
  -- rule or person
  source TEXT NOT NULL,
  -- the rule as it was written
  rule TEXT NOT NULL,
  value REAL,
  weight REAL NOT NULL,
  detail TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (trajectory_n, name)
) STRICT, WITHOUT ROWID;

-- cause: code of why a prompt failed or was discarded; a filter's name for the latter.
ALTER TABLE prompts ADD COLUMN cause TEXT;
-- 0: the same request would fail again, so only an explicit retry runs it
ALTER TABLE prompts ADD COLUMN retryable INTEGER NOT NULL DEFAULT 1;
-- 1: its row is no longer in the dataset; what it has stays, it is not run (any more)
ALTER TABLE prompts ADD COLUMN removed INTEGER NOT NULL DEFAULT 0;
-- 1: a person kept it though a filter would discard it
ALTER TABLE prompts ADD COLUMN kept_anyway INTEGER NOT NULL DEFAULT 0;
-- Of the final answer; only in runs that look for duplicate answers.
ALTER TABLE prompts ADD COLUMN answer_hash TEXT;
CREATE INDEX prompts_by_answer ON prompts (run_id, answer_hash, idx) WHERE answer_hash IS NOT NULL;
-- Who works on it, and until when that holds without a sign of life (epoch ms).
ALTER TABLE prompts ADD COLUMN lease TEXT;
ALTER TABLE prompts ADD COLUMN lease_until INTEGER;
CREATE INDEX prompts_by_key ON prompts (run_id, row_key);
CREATE INDEX prompts_by_cause ON prompts (run_id, cause, state, retryable) WHERE cause IS NOT NULL;
CREATE INDEX prompts_removed ON prompts (run_id, idx) WHERE removed = 1;

-- What a killed engine left.
CREATE INDEX trajectories_running ON trajectories (run_id, n) WHERE state = 'running';

-- All that the numbers of a run are made of, so that they need not read its trajectories. Only ended ones: written once each.
CREATE INDEX trajectories_ended ON trajectories (run_id, prompt_index, rollout, outcome, exit_reason, reward, turns_with_reasoning, created_at, ended_at) WHERE state = 'ended' AND run_id IS NOT NULL;

-- JSON: what an edited dataset changed at the last resume.
ALTER TABLE runs ADD COLUMN changes TEXT;
