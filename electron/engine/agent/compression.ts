import type { ModelError } from '../model/types.ts';
import { compactHistory } from './compress/compact.ts';
import { graceAfter } from './grace.ts';
import type { AgentRun } from './run.ts';
import type { AgentEvent } from './types.ts';

/** Refusals of one user turn that are answered by compressing and asking again (Hermes' limit). */
const MAX_OVERFLOWS = 3;
/** Growth since the last pass, as a part of the context length, before another one is tried. */
const MIN_GROWTH = 0.1;
/** Without a limit in the provider's words: the part of the refused size that is taken for it. */
const GUESSED_LIMIT = 0.75;
/** A 400 without words is taken for a refusal of the length from this part of the context length on. */
const SUSPICIOUS = 0.8;

/**
 * Compresses before a call when the conversation has reached the threshold. A pass without gain is the last of this user turn, and one
 * that leaves too much waits until the conversation has grown: compressing never goes round in circles.
 * Answers whether anything was done.
 */
export async function* makeRoom(run: AgentRun): AsyncGenerator<AgentEvent, boolean> {
  const { compressAt, contextLength, passes } = run;
  if (compressAt === null || contextLength === null) return false;
  if (run.meter().total < Math.max(compressAt, passes.notBelow)) return false;
  const gained = yield* compress(run, contextLength, false);
  passes.notBelow = gained ? run.meter().total + MIN_GROWTH * contextLength : Infinity;
  return true;
}

/**
 * After the provider refused the conversation for its length: compresses, so that the call can be made again. Answers false when
 * the refusal has to stand: it was about something else, compression is off, nothing is to be gained, or it was tried often enough.
 */
export async function* roomAfterRefusal(run: AgentRun, error: ModelError): AsyncGenerator<AgentEvent, boolean> {
  if (!run.spec.compression || run.signal.aborted) return false;
  const { total } = run.meter();
  if (error.code !== 'context_overflow' && !(error.status === 400 && run.contextLength !== null && total >= SUSPICIOUS * run.contextLength)) return false;
  const { passes } = run;
  if (passes.overflows >= MAX_OVERFLOWS || run.halted()) return false;
  passes.overflows++;
  const named = limitNamedIn(`${error.providerMessage ?? ''} ${error.message}`);
  // a limit above what was refused cannot be the one that holds
  const known = [named, run.contextLength].filter((limit): limit is number => limit !== null && limit < total);
  run.contextLength = known.length > 0 ? Math.min(...known) : (named ?? Math.floor(GUESSED_LIMIT * total));
  return yield* compress(run, run.contextLength, true);
}

/** One pass. Answers whether the conversation became shorter. */
async function* compress(run: AgentRun, contextLength: number, force: boolean): AsyncGenerator<AgentEvent, boolean> {
  const { spec, deps, signal } = run;
  yield { type: 'compressing' };
  const grace = graceAfter(signal);
  try {
    const result = await grace.wait(
      compactHistory(
        {
          messages: run.messages,
          settings: spec.compression!,
          contextLength,
          model: deps.summaryModel ?? deps.model,
          ...(deps.summaryModel ? { summaryContextLength: null } : {}),
          ...(deps.carryOver ? { carryOver: deps.carryOver } : {}),
          now: deps.now,
          force,
        },
        signal,
      ),
    );
    for (const call of result?.calls ?? []) yield run.paidForSummary(call);
    if (!result?.message) return false;
    yield run.keep(result.message);
    return true;
  } finally {
    grace.dispose();
  }
}

/**
 * The context length that a provider's refusal names, tokens; null when it names none. Wordings: OpenAI and vLLM ("maximum context
 * length is 8192 tokens"), Anthropic ("213462 tokens > 200000 maximum"), Google ("exceeds the maximum number of tokens allowed
 * (1048576)"), llama.cpp ("context size (4096 tokens)", `n_ctx`), LM Studio ("context length of
 * only 4096 tokens"), Mistral ("with 32768 maximum context length").
 */
export function limitNamedIn(text: string): number | null {
  const wordings = [
    /maximum context (?:length|window|size)(?: of| is|:)?\s*(?:only\s+)?([\d,_]+)/i,
    /context (?:length|window|size)[^\d]{0,30}([\d,_]+)/i,
    /(?:>|with)\s*([\d,_]+)\s*maximum/i,
    /maximum (?:number of )?(?:input |prompt )?tokens[^\d]{0,30}([\d,_]+)/i,
    /maximum (?:of|is|prompt length is|prompt length of)\s*([\d,_]+)/i,
    /n_ctx["\s:=]+([\d,_]+)/i,
    /limit (?:of|is)\s*([\d,_]+)\s*tokens/i,
  ];
  for (const wording of wordings) {
    const number = Number(wording.exec(text)?.[1]?.replace(/[,_]/g, ''));
    if (Number.isInteger(number) && number >= 256) return number;
  }
  return null;
}
