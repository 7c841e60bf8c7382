/** Where the program's own files are; given by the host that starts the engine (source tree, bundle or package). */
export interface EnginePaths {
  /** Folder with migrations/, the demo dataset and scenarios. */
  resources: string;
  /** Entry of the store's reader worker (a .ts file in the source tree, .js in a bundle). */
  reader: string;
}
