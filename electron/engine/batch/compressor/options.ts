import { z } from 'zod';
import type { CompressorOptions } from '#shared/contract/compressor.ts';
import { compressorOptionsSchema } from '#shared/contract/compressor.ts';

const OTHERS = { trust_remote_code: z.unknown(), api_key_env: z.unknown(), num_workers: z.unknown() };

/**
 * The YAML configuration of Hermes Agent's trajectory compressor, section by section. What has no meaning here (`trust_remote_code`,
 * `num_workers`) is taken and not used; keys that nobody knows are errors.
 */
const fileSchema = z
  .strictObject({
    tokenizer: z.strictObject({ name: z.string().optional(), trust_remote_code: OTHERS.trust_remote_code.optional() }).optional(),
    compression: z.strictObject({ target_max_tokens: z.number().optional(), summary_target_tokens: z.number().optional() }).optional(),
    protected_turns: z
      .strictObject({ first_system: z.boolean().optional(), first_human: z.boolean().optional(), first_gpt: z.boolean().optional(), first_tool: z.boolean().optional(), last_n_turns: z.number().optional() })
      .optional(),
    summarization: z
      .strictObject({ model: z.string().optional(), base_url: z.string().optional(), api_key_env: OTHERS.api_key_env.optional(), temperature: z.number().optional(), max_retries: z.number().optional(), retry_delay: z.number().optional() })
      .optional(),
    output: z.strictObject({ add_summary_notice: z.boolean().optional(), summary_notice_text: z.string().optional(), output_suffix: z.string().optional() }).optional(),
    processing: z
      .strictObject({ num_workers: OTHERS.num_workers.optional(), max_concurrent_requests: z.number().optional(), per_trajectory_timeout: z.number().optional(), skip_under_target: z.boolean().optional(), save_over_limit: z.boolean().optional() })
      .optional(),
    metrics: z.strictObject({ enabled: z.boolean().optional(), per_trajectory: z.boolean().optional(), output_file: z.string().optional() }).optional(),
  })
  .nullable();

/** Options of a configuration file that was parsed as YAML. Throws an Error with the key and what is wrong with it. */
export function optionsOfFile(value: unknown): Partial<CompressorOptions> {
  const parsed = fileSchema.safeParse(value);
  if (!parsed.success) throw new Error(problem(parsed.error));
  const f = parsed.data ?? {};
  const found = {
    tokenizer: folderOf(f.tokenizer?.name),
    targetMaxTokens: f.compression?.target_max_tokens,
    summaryTargetTokens: f.compression?.summary_target_tokens,
    protectFirstSystem: f.protected_turns?.first_system,
    protectFirstHuman: f.protected_turns?.first_human,
    protectFirstGpt: f.protected_turns?.first_gpt,
    protectFirstTool: f.protected_turns?.first_tool,
    protectLastTurns: f.protected_turns?.last_n_turns,
    model: f.summarization?.model,
    baseUrl: f.summarization?.base_url,
    temperature: f.summarization?.temperature,
    addSummaryNotice: f.output?.add_summary_notice,
    summaryNotice: f.output?.summary_notice_text,
    suffix: f.output?.output_suffix,
    maxConcurrentRequests: f.processing?.max_concurrent_requests,
    timeoutPerTrajectory: f.processing?.per_trajectory_timeout,
    saveOverLimit: f.processing?.save_over_limit,
    rowMetrics: f.metrics?.per_trajectory,
  };
  const given = Object.fromEntries(Object.entries(found).filter(([, v]) => v !== undefined));
  const checked = compressorOptionsSchema.partial().safeParse(given);
  if (!checked.success) throw new Error(problem(checked.error));
  // only what was given: the schema's defaults must not stand over options of the command line
  return Object.fromEntries(Object.entries(checked.data).filter(([key]) => key in given));
}

/** A tokenizer is a folder on this machine; a name of a model hub cannot be fetched and means the estimate. */
function folderOf(name: string | undefined): string | undefined {
  return name?.startsWith('/') || name?.startsWith('./') || name?.startsWith('../') ? name : undefined;
}

function problem(error: z.ZodError): string {
  const [issue] = error.issues;
  if (issue?.code === 'unrecognized_keys') return `${[...issue.path, issue.keys[0]].join('.')} is no key of the compressor's configuration.`;
  return `${issue?.path.join('.') || 'The file'}: ${issue?.message ?? 'not valid'}`;
}
