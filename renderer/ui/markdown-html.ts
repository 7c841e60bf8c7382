interface Node {
  type: string;
  value?: string;
  children?: Node[];
}

/** Where text may stand only inside a paragraph. */
const FLOW = new Set(['root', 'blockquote', 'listItem', 'footnoteDefinition']);

/** A remark plugin: raw HTML in a message becomes the text it is, so that one sees what the model wrote and nothing of it acts. */
export function htmlAsText(): (tree: Node) => void {
  return (tree) => walk(tree);
}

function walk(node: Node): void {
  node.children?.forEach((child, i, siblings) => {
    if (child.type !== 'html') {
      walk(child);
      return;
    }
    const text: Node = { type: 'text', value: child.value ?? '' };
    siblings[i] = FLOW.has(node.type) ? { type: 'paragraph', children: [text] } : text;
  });
}
