import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pathKey, scopeOf } from '../sandbox/approvals.ts';
import { SandboxError } from '../sandbox/types.ts';
import { ToolError } from './define.ts';
import type { ToolContext } from './types.ts';

export type PathAccess = 'read' | 'write';
/** The absolute real path of what a model wrote. Throws SandboxError or ToolError. */
export type OpenPath = (path: string, access: PathAccess) => Promise<string>;

/**
 * How one call of a tool comes to its paths: inside the workspace at once; outside (also through a symlink) the person is asked, where
 * one can be asked, once for each folder; credentials and the program's own folders never.
 */
export function pathsOf({ sandbox, approve, callId, signal }: Pick<ToolContext, 'sandbox' | 'approve' | 'callId' | 'signal'>, tool: string): OpenPath {
  const allowed = new Set<string>();
  return async (path, access) => {
    try {
      return await sandbox.resolve(path);
    } catch (error) {
      if (!(error instanceof SandboxError) || error.code !== 'outside_workspace' || error.path === null || !approve) throw error;
      const key = pathKey(access, await folderOf(error.path));
      const reason = `${tool} wants to ${access === 'read' ? 'read' : 'change'} this path, which is outside the workspace.`;
      if (allowed.has(key) || (await approve({ what: 'path', subject: error.path, reason, key, scope: scopeOf(key) }, callId, signal))) {
        allowed.add(key);
        return error.path;
      }
      throw new ToolError(`The person did not allow "${path}", which is outside the workspace. Nothing was done. Do not try it another way; go on without it, or ask them.`);
    }
  };
}

/** The path itself when it is a folder, else the folder it is in. */
async function folderOf(path: string): Promise<string> {
  const facts = await stat(path).catch(() => null);
  return facts?.isDirectory() ? path : dirname(path);
}
