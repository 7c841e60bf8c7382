/** The address of a skill's place. Ids have slashes ("own/git/rebase"), which stay readable in it. */
export function skillPath(id: string | null): string {
  return id === null || id === '' ? '/skills' : `/skills/${id.split('/').map(encodeURIComponent).join('/')}`;
}

/** The place of whichever skill has this name. */
export function skillPathByName(name: string): string {
  return `/skills?name=${encodeURIComponent(name)}`;
}

/** The id in a path of the page as it stands in the address, also one whose slashes were encoded; null for none. */
export function skillIdOf(path: string): string | null {
  const rest = /^\/skills\/(.+)$/.exec(path)?.[1];
  if (rest === undefined) return null;
  return rest.split('/').map(decode).join('/');
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
