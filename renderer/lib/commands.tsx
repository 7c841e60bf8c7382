import { createContext, use, useEffect, useId, useLayoutEffect, useRef, type ReactNode } from 'react';
import { createStore, useStore, type StoreApi } from 'zustand';
import { activatesByKey, comboOf, matchKey, takesKeys, type Chord, type KeyBinding } from './keymap.ts';

/** One thing that can be done: by its key, from the palette, or both. */
export interface Command {
  /** Stable within its layer. */
  id: string;
  /** Already translated; shown in the palette and the key sheet. */
  label: string;
  /** Combination ("e", "mod+k", "g g", "shift+o"); absent = palette only. */
  keys?: string | undefined;
  /** Further combinations that do the same, e.g. ["ArrowDown"] besides "j". */
  also?: readonly string[] | undefined;
  run: () => void;
  disabled?: boolean | undefined;
  whileTyping?: boolean | undefined;
  inDialog?: boolean | undefined;
  repeats?: boolean | undefined;
  /** Not worth a line in the palette (moving in lists). */
  keysOnly?: boolean | undefined;
}

export interface CommandLayer {
  id: string;
  /** Heading in the palette and the key sheet. */
  title: string;
  commands: readonly Command[];
}

export interface CommandRegistry {
  layers: StoreApi<{ layers: readonly CommandLayer[] }>;
  mac: boolean;
  /** Starts listening; returns the way to stop. */
  listen(page: Window): () => void;
}

interface Bound extends KeyBinding {
  command: Command;
}

/** Popups of ui/ carry this attribute; while one is open only its own keys work. A list box stays in the page, hidden, once it had the focus; one that fades out is closed already. */
export const COVER_SELECTOR = '[data-cover]:not([hidden], [data-closed])';

/** The one keymap of the page. Layers registered later win; a layer lives as long as the component that registered it. */
export function createCommandRegistry(mac: boolean): CommandRegistry {
  const layers = createStore<{ layers: readonly CommandLayer[] }>(() => ({ layers: [] }));
  let waiting: Chord | null = null;

  function bindings(): Bound[] {
    return layers.getState().layers.flatMap((layer) =>
      layer.commands
        .filter((c) => !c.disabled)
        .flatMap((command) =>
          [command.keys, ...(command.also ?? [])]
            .filter((k) => k !== undefined)
            .map((keys) => ({
              keys,
              command,
              whileTyping: command.whileTyping,
              inDialog: command.inDialog,
              repeats: command.repeats,
            })),
        ),
    );
  }

  return {
    layers,
    mac,
    listen(page) {
      const onKey = (event: KeyboardEvent): void => {
        if (event.defaultPrevented) return;
        const combo = comboOf(event, mac);
        if (combo === null) return;
        const target = event.composedPath()[0];
        const el = target instanceof Element ? (target as HTMLElement) : null;
        const place = {
          typing: el !== null && takesKeys(el),
          activates: el !== null && activatesByKey(el),
          covered: page.document.querySelector(COVER_SELECTOR) !== null,
        };
        const found = matchKey(bindings(), combo, event, place, waiting, Date.now());
        waiting = found.waiting;
        if (!found.binding) return;
        event.preventDefault();
        found.binding.command.run();
      };
      page.addEventListener('keydown', onKey);
      return () => page.removeEventListener('keydown', onKey);
    },
  };
}

const CommandsContext = createContext<CommandRegistry | null>(null);

export function CommandsProvider({ registry, children }: { registry: CommandRegistry; children: ReactNode }): ReactNode {
  useEffect(() => registry.listen(window), [registry]);
  return <CommandsContext value={registry}>{children}</CommandsContext>;
}

export function useCommandRegistry(): CommandRegistry {
  const registry = use(CommandsContext);
  if (!registry) throw new Error('CommandsProvider is missing.');
  return registry;
}

/** All layers now on screen, oldest first. */
export function useCommandLayers(): readonly CommandLayer[] {
  return useStore(useCommandRegistry().layers, (s) => s.layers);
}

/**
 * Offers commands while the calling component is on screen: their keys work, the palette and the `?` sheet list them.
 * `run` may be a new closure on every render; only visible changes re-register.
 * @param title heading of the group @param active false keeps the layer out (a hidden pane)
 */
export function useCommands(title: string, commands: readonly Command[], active = true): void {
  const registry = useCommandRegistry();
  const id = useId();
  const newest = useRef(commands);
  // Before the next paint: a key acts on what the person sees, never on the state before it.
  useLayoutEffect(() => {
    newest.current = commands;
  });
  const shape = JSON.stringify(commands.map(({ run: _run, ...rest }) => rest));
  useLayoutEffect(() => {
    if (!active) return;
    const layer: CommandLayer = {
      id,
      title,
      commands: (JSON.parse(shape) as Omit<Command, 'run'>[]).map((c) => ({
        ...c,
        run: () => newest.current.find((n) => n.id === c.id)?.run(),
      })),
    };
    registry.layers.setState((s) => {
      const at = s.layers.findIndex((l) => l.id === id);
      // A changed label keeps its place: a layer must not climb over the ones above it.
      return { layers: at === -1 ? [...s.layers, layer] : s.layers.with(at, layer) };
    });
  }, [registry, id, title, shape, active]);
  useEffect(() => {
    if (!active) return;
    return () => registry.layers.setState((s) => ({ layers: s.layers.filter((l) => l.id !== id) }));
  }, [registry, id, active]);
}
