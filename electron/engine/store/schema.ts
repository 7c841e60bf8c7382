import type { Generated } from 'kysely';

/** Column types as stored; JSON columns are text, times are epoch ms, booleans are 0/1. See resources/migrations. */
export interface Tables {
  runs: {
    id: string;
    name: string;
    state: string;
    message: string | null;
    spec: string;
    scripted: number;
    output_dir: string;
    dataset_sha256: string;
    total: number;
    elapsed_ms: Generated<number>;
    created_at: number;
    ended_at: number | null;
  };
  prompts: {
    run_id: string;
    idx: number;
    prompt: string;
    row: string;
    row_key: string;
    toolsets: Generated<string>;
    state: Generated<string>;
    reason: string | null;
    attempts: Generated<number>;
    trajectory_id: string | null;
    lost_tokens: Generated<number>;
    updated_at: number;
  };
  trajectories: {
    n: Generated<number>;
    id: string;
    kind: string;
    title: string;
    run_id: string | null;
    prompt_index: number | null;
    model: string;
    provider: string;
    scripted: Generated<number>;
    state: Generated<string>;
    outcome: Generated<string>;
    exit_reason: string | null;
    discard_reason: string | null;
    error: string | null;
    system_prompt: string;
    toolsets: Generated<string>;
    tools: Generated<string>;
    tool_stats: Generated<string>;
    message_count: Generated<number>;
    turns: Generated<number>;
    turns_with_reasoning: Generated<number>;
    tool_calls: Generated<number>;
    tool_errors: Generated<number>;
    api_calls: Generated<number>;
    prompt_tokens: Generated<number>;
    completion_tokens: Generated<number>;
    reasoning_tokens: Generated<number>;
    cached_tokens: Generated<number>;
    cost_usd: number | null;
    created_at: number;
    ended_at: number | null;
  };
  messages: {
    trajectory_n: number;
    seq: number;
    role: string;
    content: string;
    content_blob: number | null;
    content_bytes: number | null;
    reasoning: string | null;
    reasoning_details: string | null;
    tool_calls: string | null;
    tool_call_id: string | null;
    tool_name: string | null;
    is_error: number | null;
    synthetic: Generated<number>;
    finish_reason: string | null;
    usage: string | null;
    duration_ms: number | null;
    created_at: number;
  };
  blobs: { id: Generated<number>; bytes: number; data: Buffer };
  trajectory_text: { rowid: number; text: string };
}
