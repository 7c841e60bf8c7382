-- Runs: one batch job over a dataset of prompts.
CREATE TABLE runs (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  state TEXT NOT NULL,
  message TEXT,
  spec TEXT NOT NULL,
  scripted INTEGER NOT NULL DEFAULT 0,
  output_dir TEXT NOT NULL,
  dataset_sha256 TEXT NOT NULL,
  total INTEGER NOT NULL,
  elapsed_ms INTEGER NOT NULL DEFAULT 0,
  -- sums over its trajectories as of the last pass, so that lists of runs need not add them up; null = not added up yet
  totals TEXT,
  created_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT;

-- One durable disposition per prompt of a run.
CREATE TABLE prompts (
  run_id TEXT NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  idx INTEGER NOT NULL,
  prompt TEXT NOT NULL,
  row TEXT NOT NULL,
  row_key TEXT NOT NULL,
  toolsets TEXT NOT NULL DEFAULT '[]',
  state TEXT NOT NULL DEFAULT 'pending',
  reason TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  trajectory_id TEXT,
  -- tokens of attempts whose trajectory was replaced by a later one: paid all the same
  lost_prompt_tokens INTEGER NOT NULL DEFAULT 0,
  lost_completion_tokens INTEGER NOT NULL DEFAULT 0,
  lost_reasoning_tokens INTEGER NOT NULL DEFAULT 0,
  lost_cached_tokens INTEGER NOT NULL DEFAULT 0,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (run_id, idx)
) STRICT, WITHOUT ROWID;
CREATE INDEX prompts_by_state ON prompts (run_id, state, idx);

CREATE TABLE trajectories (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  title TEXT NOT NULL,
  run_id TEXT REFERENCES runs(id) ON DELETE CASCADE,
  prompt_index INTEGER,
  model TEXT NOT NULL,
  provider TEXT NOT NULL,
  scripted INTEGER NOT NULL DEFAULT 0,
  state TEXT NOT NULL DEFAULT 'running',
  -- running, completed, partial, failed or discarded; kept beside its sources so that lists can use an index
  outcome TEXT NOT NULL DEFAULT 'running',
  exit_reason TEXT,
  discard_reason TEXT,
  error TEXT,
  system_prompt TEXT NOT NULL,
  toolsets TEXT NOT NULL DEFAULT '[]',
  tools TEXT NOT NULL DEFAULT '[]',
  tool_stats TEXT NOT NULL DEFAULT '{}',
  message_count INTEGER NOT NULL DEFAULT 0,
  turns INTEGER NOT NULL DEFAULT 0,
  turns_with_reasoning INTEGER NOT NULL DEFAULT 0,
  tool_calls INTEGER NOT NULL DEFAULT 0,
  tool_errors INTEGER NOT NULL DEFAULT 0,
  api_calls INTEGER NOT NULL DEFAULT 0,
  prompt_tokens INTEGER NOT NULL DEFAULT 0,
  completion_tokens INTEGER NOT NULL DEFAULT 0,
  reasoning_tokens INTEGER NOT NULL DEFAULT 0,
  cached_tokens INTEGER NOT NULL DEFAULT 0,
  cost_usd REAL,
  created_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT;
CREATE UNIQUE INDEX trajectories_by_prompt ON trajectories (run_id, prompt_index) WHERE run_id IS NOT NULL;
CREATE INDEX trajectories_by_outcome ON trajectories (outcome, n);
CREATE INDEX trajectories_by_model ON trajectories (model, n);
CREATE INDEX trajectories_by_run ON trajectories (run_id, n);
CREATE INDEX trajectories_by_day ON trajectories (created_at);

CREATE TABLE messages (
  trajectory_n INTEGER NOT NULL REFERENCES trajectories(n) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  role TEXT NOT NULL,
  content TEXT NOT NULL,
  -- set when content is only the head of a value kept in blobs
  content_blob INTEGER REFERENCES blobs(id),
  content_bytes INTEGER,
  reasoning TEXT,
  reasoning_details TEXT,
  tool_calls TEXT,
  tool_call_id TEXT,
  tool_name TEXT,
  is_error INTEGER,
  synthetic INTEGER NOT NULL DEFAULT 0,
  finish_reason TEXT,
  usage TEXT,
  duration_ms INTEGER,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (trajectory_n, seq)
) STRICT, WITHOUT ROWID;

-- Values over 64 KiB, deflated.
CREATE TABLE blobs (
  id INTEGER PRIMARY KEY,
  bytes INTEGER NOT NULL,
  data BLOB NOT NULL
) STRICT;

-- One row per trajectory (rowid = n) over its visible text, segmented by the store so that two Chinese characters are found.
CREATE VIRTUAL TABLE trajectory_text USING fts5 (text, content='', contentless_delete=1, tokenize="unicode61 remove_diacritics 2");

CREATE TRIGGER messages_drop_blob AFTER DELETE ON messages WHEN old.content_blob IS NOT NULL
BEGIN
  DELETE FROM blobs WHERE id = old.content_blob;
END;

CREATE TRIGGER trajectories_drop_text AFTER DELETE ON trajectories
BEGIN
  DELETE FROM trajectory_text WHERE rowid = old.n;
END;
