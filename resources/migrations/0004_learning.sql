-- Agents that learn and delegate.

-- Counters of the nudge (see review/): model calls without skill_manage, user turns without memory. Kept so that a restart keeps them.
ALTER TABLE sessions ADD COLUMN iters_since_skill INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN turns_since_memory INTEGER NOT NULL DEFAULT 0;
-- memory, skill, combined: a review that is due after the next turn that ends with an answer; empty when none is
ALTER TABLE sessions ADD COLUMN review_due TEXT NOT NULL DEFAULT '';
-- 1: a task in the background: its own session, nobody is asked.
ALTER TABLE sessions ADD COLUMN background INTEGER NOT NULL DEFAULT 0;

-- Every change of a skill, whoever made it. Written before the files are touched: the journal that a killed engine is mended from.
CREATE TABLE skill_versions (
  id INTEGER PRIMARY KEY,
  -- folder below the own root: "name" or "category/name"
  skill TEXT NOT NULL,
  -- found, create, edit, patch, write_file, remove_file, rename, delete, restore, import, revert
  action TEXT NOT NULL,
  -- person, agent, review, import
  author TEXT NOT NULL,
  trajectory_id TEXT,
  review_id TEXT,
  reason TEXT NOT NULL DEFAULT '',
  -- JSON: [{ path, before, after, binary?, kept? }] of what changed; contents as text, base64 for binary ones, null where there was or
  -- is no file, or where it was too large to be kept (kept: false). A rename has { path: "", before: old folder, after: new folder }
  changes TEXT NOT NULL,
  -- JSON: [[path, SHA-256 of the file after it]]
  tree TEXT NOT NULL DEFAULT '[]',
  -- pending until the files on disk are as `changes` says
  state TEXT NOT NULL DEFAULT 'pending',
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX skill_versions_by_skill ON skill_versions (skill, id);
CREATE INDEX skill_versions_pending ON skill_versions (id) WHERE state = 'pending';

-- What a person chose for a skill, by its id (root and folder).
CREATE TABLE skill_marks (
  skill_id TEXT PRIMARY KEY,
  enabled INTEGER NOT NULL DEFAULT 1,
  pinned INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- Once for each trajectory, skill and way: view (skill_view), run (/name), manage (skill_manage).
CREATE TABLE skill_uses (
  skill TEXT NOT NULL,
  trajectory_id TEXT NOT NULL,
  how TEXT NOT NULL,
  count INTEGER NOT NULL DEFAULT 1,
  at INTEGER NOT NULL,
  PRIMARY KEY (skill, trajectory_id, how)
) STRICT, WITHOUT ROWID;

-- What is known of an entry of MEMORY.md or USER.md besides its text. The files are the truth; these rows follow them.
CREATE TABLE memory_entries (
  target TEXT NOT NULL,
  -- SHA-256 of the entry's text, hex
  hash TEXT NOT NULL,
  -- person, agent, review, import; empty: written into the file by hand, and created_at is when it was seen first
  author TEXT NOT NULL,
  trajectory_id TEXT,
  review_id TEXT,
  created_at INTEGER NOT NULL,
  -- sessions that began with it in their prompt
  uses INTEGER NOT NULL DEFAULT 0,
  used_at INTEGER,
  PRIMARY KEY (target, hash)
) STRICT, WITHOUT ROWID;

-- Every change of a memory file, with the whole file before and after: what undo goes by. Written before the file is.
CREATE TABLE memory_changes (
  id INTEGER PRIMARY KEY,
  target TEXT NOT NULL,
  author TEXT NOT NULL,
  trajectory_id TEXT,
  review_id TEXT,
  reason TEXT NOT NULL DEFAULT '',
  -- JSON list of operations
  operations TEXT NOT NULL,
  before TEXT NOT NULL,
  after TEXT NOT NULL,
  -- pending until the file is as `after` says
  state TEXT NOT NULL DEFAULT 'pending',
  undone_at INTEGER,
  created_at INTEGER NOT NULL
) STRICT;

-- The background agent that reads a finished turn.
CREATE TABLE reviews (
  id TEXT PRIMARY KEY,
  session_id TEXT REFERENCES sessions(id) ON DELETE CASCADE,
  -- JSON list of { trajectoryId, through }: what it reads, up to which seq
  sources TEXT NOT NULL,
  -- memory, skill, combined
  kind TEXT NOT NULL,
  -- nudge, session_end, manual, learn
  trigger TEXT NOT NULL,
  focus TEXT NOT NULL DEFAULT '',
  -- queued, running, done, cancelled, failed
  state TEXT NOT NULL,
  error TEXT,
  trajectory_id TEXT,
  seen INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  ended_at INTEGER
) STRICT;
CREATE INDEX reviews_by_time ON reviews (created_at, id);
CREATE INDEX reviews_open ON reviews (state, created_at) WHERE state IN ('queued', 'running');
CREATE INDEX reviews_by_session ON reviews (session_id, created_at) WHERE session_id IS NOT NULL;

CREATE TABLE proposals (
  id TEXT PRIMARY KEY,
  review_id TEXT NOT NULL REFERENCES reviews(id) ON DELETE CASCADE,
  idx INTEGER NOT NULL,
  -- memory_add, memory_change, memory_remove, skill_new, skill_change, skill_remove
  kind TEXT NOT NULL,
  -- the skill's folder, or memory/user
  target TEXT NOT NULL,
  title TEXT NOT NULL,
  reason TEXT NOT NULL DEFAULT '',
  -- JSON: the tool call that was proposed; what would change ([{ path, before, after }]); quoted turns; findings of the scan
  operation TEXT NOT NULL,
  changes TEXT NOT NULL,
  evidence TEXT NOT NULL,
  findings TEXT NOT NULL DEFAULT '[]',
  -- waiting, applied (at once), accepted, rejected, undone, failed
  state TEXT NOT NULL,
  error TEXT,
  -- JSON: what undo needs (ids of versions or changes)
  done TEXT,
  created_at INTEGER NOT NULL,
  decided_at INTEGER
) STRICT;
CREATE INDEX proposals_by_review ON proposals (review_id, idx);
CREATE INDEX proposals_waiting ON proposals (created_at) WHERE state = 'waiting';

-- One call of spawn_agent or spawn_parallel.
CREATE TABLE delegations (
  id TEXT PRIMARY KEY,
  session_id TEXT,
  trajectory_id TEXT NOT NULL,
  call_id TEXT NOT NULL,
  background INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  ended_at INTEGER,
  -- when its results had become a message of the session that asked (background ones)
  delivered_at INTEGER
) STRICT;
CREATE INDEX delegations_by_trajectory ON delegations (trajectory_id);
CREATE INDEX delegations_by_session ON delegations (session_id, created_at) WHERE session_id IS NOT NULL;
CREATE INDEX delegations_undelivered ON delegations (created_at) WHERE background = 1 AND delivered_at IS NULL;

CREATE TABLE children (
  id TEXT PRIMARY KEY,
  delegation_id TEXT NOT NULL REFERENCES delegations(id) ON DELETE CASCADE,
  idx INTEGER NOT NULL,
  goal TEXT NOT NULL,
  -- JSON of what was asked for
  spec TEXT NOT NULL,
  trajectory_id TEXT,
  -- queued, running, completed, failed, interrupted, timeout, stalled, unknown
  state TEXT NOT NULL DEFAULT 'queued',
  -- JSON: the result as the parent got it
  result TEXT,
  started_at INTEGER,
  ended_at INTEGER
) STRICT;
CREATE UNIQUE INDEX children_by_delegation ON children (delegation_id, idx);
CREATE INDEX children_by_trajectory ON children (trajectory_id) WHERE trajectory_id IS NOT NULL;
CREATE INDEX children_open ON children (state) WHERE state IN ('queued', 'running');

-- "Try this skill": the same prompts with and without it.
CREATE TABLE trials (
  id TEXT PRIMARY KEY,
  skill TEXT NOT NULL,
  -- JSON: prompts, model, seed, limits, and the skill's files as they were
  spec TEXT NOT NULL,
  -- running, done, cancelled, failed
  state TEXT NOT NULL,
  -- keep, discard
  decision TEXT,
  error TEXT,
  created_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT;
CREATE INDEX trials_by_skill ON trials (skill, created_at);

CREATE TABLE trial_runs (
  trial_id TEXT NOT NULL REFERENCES trials(id) ON DELETE CASCADE,
  idx INTEGER NOT NULL,
  -- with, without
  arm TEXT NOT NULL,
  trajectory_id TEXT,
  state TEXT NOT NULL DEFAULT 'pending',
  PRIMARY KEY (trial_id, idx, arm)
) STRICT, WITHOUT ROWID;

-- What the Library filters by kind.
CREATE INDEX trajectories_by_kind ON trajectories (kind, n) WHERE deleted_at IS NULL;
