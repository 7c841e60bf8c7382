/** Where the cells of a run's rollouts lie: rollouts of one prompt side by side, a little apart from the next prompt's. All in px. */
export interface GridLayout {
  /** A cell with its gap. */
  size: number;
  /** Between cells. */
  gap: number;
  /** Of everything; the last gap is not counted. */
  height: number;
  /** Upper left corner of a cell. */
  cell: (index: number) => { x: number; y: number };
  /** The rollout at a point; null between prompts and past the end. */
  at: (x: number, y: number) => number | null;
  /** Rollouts that touch the stretch from `top` to `bottom`: `from` ≤ index < `to`. */
  between: (top: number, bottom: number) => { from: number; to: number };
}

const LARGEST = 19;
const SMALLEST = 6;

/**
 * The largest cells with which all rollouts fit into `maxHeight`, or the smallest there are: then the grid is higher than that.
 * @param rollouts per prompt; more than one makes groups
 */
export function gridLayout(count: number, rollouts: number, width: number, maxHeight: number): GridLayout {
  for (let size = LARGEST; size > SMALLEST; size -= 1) {
    const layout = withSize(count, rollouts, width, size);
    if (layout.height <= maxHeight) return layout;
  }
  return withSize(count, rollouts, width, SMALLEST);
}

function withSize(count: number, rollouts: number, width: number, size: number): GridLayout {
  const gap = size >= 12 ? 2 : 1;
  const columns = Math.max(1, Math.floor((width + gap) / size));
  const apart = rollouts > 1 ? Math.max(3, Math.round(size / 2)) : 0;
  // Small groups share a line; one that is wider than the grid has lines of its own.
  const shared = rollouts > 1 && rollouts <= columns;
  const groupWidth = rollouts * size + apart;
  const perLine = shared ? Math.max(1, Math.floor((width + gap + apart) / groupWidth)) : 1;
  const linesOfGroup = shared ? 1 : Math.ceil(rollouts / columns);
  const groupHeight = rollouts > 1 ? linesOfGroup * size + (shared ? 0 : apart) : size;

  if (rollouts === 1) {
    const lines = Math.ceil(count / columns);
    return {
      size,
      gap,
      height: Math.max(0, lines * size - gap),
      cell: (index) => ({ x: (index % columns) * size, y: Math.floor(index / columns) * size }),
      at: (x, y) => {
        const column = Math.floor(x / size);
        const index = Math.floor(y / size) * columns + column;
        return x >= 0 && y >= 0 && column < columns && index < count ? index : null;
      },
      between: (top, bottom) => ({ from: clamp(Math.floor(top / size) * columns, count), to: clamp(Math.ceil(bottom / size) * columns, count) }),
    };
  }
  const groups = Math.ceil(count / rollouts);
  const bands = Math.ceil(groups / perLine);
  const perBand = perLine * rollouts;
  return {
    size,
    gap,
    height: Math.max(0, bands * groupHeight - gap - (shared ? 0 : apart)),
    cell: (index) => {
      const group = Math.floor(index / rollouts);
      const inside = index % rollouts;
      const band = Math.floor(group / perLine);
      return shared
        ? { x: (group % perLine) * groupWidth + inside * size, y: band * groupHeight }
        : { x: (inside % columns) * size, y: band * groupHeight + Math.floor(inside / columns) * size };
    },
    at: (x, y) => {
      if (x < 0 || y < 0) return null;
      const band = Math.floor(y / groupHeight);
      const across = shared ? Math.floor(x / groupWidth) : 0;
      const inX = Math.floor((x - across * groupWidth) / size);
      const line = Math.floor((y - band * groupHeight) / size);
      const inside = shared ? inX : line * columns + inX;
      const index = (band * perLine + across) * rollouts + inside;
      const outside = shared ? across >= perLine || inX >= rollouts : inX >= columns || line >= linesOfGroup || inside >= rollouts;
      return outside || index >= count ? null : index;
    },
    between: (top, bottom) => ({ from: clamp(Math.floor(top / groupHeight) * perBand, count), to: clamp(Math.ceil(bottom / groupHeight) * perBand, count) }),
  };
}

function clamp(index: number, count: number): number {
  return Math.max(0, Math.min(count, index));
}
