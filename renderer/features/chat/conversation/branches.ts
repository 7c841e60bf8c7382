import type { Branch } from '#shared/contract/chats.ts';

/** A place where the conversation went more than one way. */
export interface Fork {
  /** Messages from here on differ. */
  seq: number;
  /** The trajectory to show for each way, oldest way first. */
  ways: readonly string[];
  /** Which of them is shown, from 0. */
  at: number;
}

interface Node {
  branch: Branch;
  /** The trajectory that holds the message before the fork. */
  from: string | null;
  seq: number;
}

/** The forks on the way to the branch that is shown, by seq. Wrong parents (hostile or lost) give no fork, and never a loop. */
export function forksOf(branches: readonly Branch[], shown: string): Fork[] {
  const byId = new Map(branches.map((b) => [b.trajectoryId, b]));
  const nodes = new Map(branches.map((b) => [b.trajectoryId, normalised(b, byId)]));
  const path = pathTo(shown, nodes);
  const onPath = new Map(path.map((node, i) => [node.branch.trajectoryId, i]));
  const groups = new Map<string, { from: string; seq: number; nodes: Node[] }>();
  for (const node of nodes.values()) {
    if (node.from === null || !onPath.has(node.from)) continue;
    const key = `${node.from} ${node.seq}`;
    const group = groups.get(key) ?? { from: node.from, seq: node.seq, nodes: [] };
    group.nodes.push(node);
    groups.set(key, group);
  }
  const forks: Fork[] = [];
  for (const { from, seq, nodes: sides } of groups.values()) {
    const next = path[(onPath.get(from) ?? 0) + 1];
    // Past the place where the shown way left this trajectory, its forks are not on the way.
    if (next && seq > next.seq) continue;
    sides.sort((a, b) => a.branch.createdAt - b.branch.createdAt);
    // where the conversation went on under a newer system prompt, its older trajectory has nothing of its own from there on
    const first = sides.some((n) => n.branch.continues) ? [] : [newestOn(from, seq, nodes)];
    const ways = [...first, ...sides.map((n) => newestBelow(n.branch.trajectoryId, nodes))];
    if (ways.length > 1) forks.push({ seq, ways, at: next && next.seq === seq ? sides.findIndex((n) => n === next) + first.length : 0 });
  }
  return forks.sort((a, b) => a.seq - b.seq);
}

/** A branch made within what it shares with its parent is one of the parent's own parent. */
function normalised(branch: Branch, byId: ReadonlyMap<string, Branch>): Node {
  let parent = branch.parentId === null ? undefined : byId.get(branch.parentId);
  const seq = branch.parentSeq ?? 0;
  for (let hops = 0; parent && parent.parentId !== null && parent.parentSeq !== null && seq <= parent.parentSeq && hops < byId.size; hops++) parent = byId.get(parent.parentId);
  return { branch, from: parent?.trajectoryId ?? null, seq };
}

/** From the root to `id`. */
function pathTo(id: string, nodes: ReadonlyMap<string, Node>): Node[] {
  const path: Node[] = [];
  for (let node = nodes.get(id); node && !path.includes(node); node = node.from === null ? undefined : nodes.get(node.from)) path.unshift(node);
  return path;
}

/** The newest trajectory that goes through `id`. */
function newestBelow(id: string, nodes: ReadonlyMap<string, Node>): string {
  return newest([...nodes.values()].filter((n) => pathTo(n.branch.trajectoryId, nodes).some((p) => p.branch.trajectoryId === id)), id);
}

/** The newest trajectory that stays on `id` beyond `seq`. */
function newestOn(id: string, seq: number, nodes: ReadonlyMap<string, Node>): string {
  return newest(
    [...nodes.values()].filter((n) => {
      const path = pathTo(n.branch.trajectoryId, nodes);
      const at = path.findIndex((p) => p.branch.trajectoryId === id);
      const next = path[at + 1];
      return at >= 0 && (!next || next.seq > seq);
    }),
    id,
  );
}

function newest(nodes: readonly Node[], otherwise: string): string {
  return nodes.toSorted((a, b) => b.branch.createdAt - a.branch.createdAt)[0]?.branch.trajectoryId ?? otherwise;
}
