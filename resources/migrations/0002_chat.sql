-- Chats: what people set and see of a session; its messages are trajectories, one for each branch.
CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL DEFAULT '',
  -- where the title is from: none, prompt, model or person
  title_by TEXT NOT NULL DEFAULT 'none',
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  reasoning_effort TEXT,
  toolsets TEXT NOT NULL DEFAULT '[]',
  workspace TEXT NOT NULL,
  sandbox TEXT NOT NULL DEFAULT 'host',
  max_turns INTEGER NOT NULL,
  -- id of the trajectory (branch) that is shown; null before the first message
  tip TEXT,
  draft TEXT NOT NULL DEFAULT '',
  draft_attachments TEXT NOT NULL DEFAULT '[]',
  queue TEXT NOT NULL DEFAULT '[]',
  todos TEXT NOT NULL DEFAULT '[]',
  unread INTEGER NOT NULL DEFAULT 0,
  pinned_at INTEGER,
  archived_at INTEGER,
  deleted_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX sessions_by_update ON sessions (updated_at);

ALTER TABLE trajectories ADD COLUMN session_id TEXT REFERENCES sessions(id) ON DELETE CASCADE;
ALTER TABLE trajectories ADD COLUMN parent_id TEXT;
ALTER TABLE trajectories ADD COLUMN parent_seq INTEGER;
-- set while a deletion can still be undone; lists, searches and exports leave these out
ALTER TABLE trajectories ADD COLUMN deleted_at INTEGER;
CREATE INDEX trajectories_by_session ON trajectories (session_id, n) WHERE session_id IS NOT NULL;
DROP INDEX trajectories_by_outcome;
DROP INDEX trajectories_by_model;
CREATE INDEX trajectories_by_outcome ON trajectories (outcome, n) WHERE deleted_at IS NULL;
CREATE INDEX trajectories_by_model ON trajectories (model, n) WHERE deleted_at IS NULL;

ALTER TABLE messages ADD COLUMN note TEXT;
ALTER TABLE messages ADD COLUMN compaction TEXT;
ALTER TABLE messages ADD COLUMN attachments TEXT;

-- Branches share the large values of the messages they have in common.
CREATE INDEX messages_by_blob ON messages (content_blob) WHERE content_blob IS NOT NULL;
DROP TRIGGER messages_drop_blob;
CREATE TRIGGER messages_drop_blob AFTER DELETE ON messages
WHEN old.content_blob IS NOT NULL AND NOT EXISTS (SELECT 1 FROM messages WHERE content_blob = old.content_blob)
BEGIN
  DELETE FROM blobs WHERE id = old.content_blob;
END;

-- Tokens and money, by local day and what they were spent for. cost_usd counts priced calls only; the rest is in unpriced_tokens.
CREATE TABLE spend_days (
  day TEXT NOT NULL,
  purpose TEXT NOT NULL,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  calls INTEGER NOT NULL,
  prompt_tokens INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL,
  reasoning_tokens INTEGER NOT NULL,
  cached_tokens INTEGER NOT NULL,
  cost_usd REAL NOT NULL,
  unpriced_tokens INTEGER NOT NULL,
  PRIMARY KEY (day, purpose, provider, model)
) STRICT, WITHOUT ROWID;

-- What a run has spent, also on attempts that were replaced.
ALTER TABLE runs ADD COLUMN cost_usd REAL NOT NULL DEFAULT 0;

-- The same by trajectory.
CREATE TABLE trajectory_spend (
  trajectory_n INTEGER NOT NULL REFERENCES trajectories(n) ON DELETE CASCADE,
  purpose TEXT NOT NULL,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  calls INTEGER NOT NULL,
  prompt_tokens INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL,
  reasoning_tokens INTEGER NOT NULL,
  cached_tokens INTEGER NOT NULL,
  cost_usd REAL NOT NULL,
  unpriced_tokens INTEGER NOT NULL,
  PRIMARY KEY (trajectory_n, purpose, provider, model)
) STRICT, WITHOUT ROWID;

-- States of a workspace before an agent changed it; the contents are in a git repository of their own.
CREATE TABLE checkpoints (
  id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
  workspace TEXT NOT NULL,
  commit_id TEXT NOT NULL,
  -- what was about to happen: a tool call in short, or "rollback"
  reason TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX checkpoints_by_session ON checkpoints (session_id, created_at);
