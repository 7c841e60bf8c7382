/**
 * Runs in the isolated world of every document, before the page's scripts: gives the preload bundle a `require('electron')`
 * and carries its messages over the binding, which only this world can see. The driver puts the bundle in as `topPreload`.
 * Frames inside the page get none, as in Electron, unless a hostile spec gives them one of its own.
 */
globalThis.__substituteWorld = (topPreload, framePreload) => {
  const preload = window === window.top ? topPreload : framePreload;
  if (!preload) return;
  const binding = globalThis.__substitute;
  delete globalThis.__substitute;
  const send = (message) => binding(JSON.stringify(message));

  const plain = (value) => {
    if (value === null || typeof value !== 'object') return;
    if (!Array.isArray(value) && Object.getPrototypeOf(value) !== Object.prototype) {
      throw new Error('The substitute for Electron carries only strings, bytes and plain JSON values');
    }
    Object.values(value).forEach(plain);
  };
  const encode = (value) => {
    if (value === undefined) return ['u'];
    if (value instanceof ArrayBuffer) return ['b', new Uint8Array(value).toBase64()];
    if (ArrayBuffer.isView(value)) return ['b', new Uint8Array(value.buffer, value.byteOffset, value.byteLength).toBase64()];
    plain(value);
    return ['j', value];
  };
  const decode = ([kind, value]) => (kind === 'b' ? Uint8Array.fromBase64(value) : kind === 'u' ? undefined : value);

  const listeners = new Map();
  const ports = new Map();
  const ipcRenderer = {
    send: (channel, ...args) => send({ kind: 'ipc', channel, args: structuredClone(args).map(encode) }),
    on(channel, listener) {
      if (!listeners.has(channel)) listeners.set(channel, []);
      listeners.get(channel).push(listener);
      return ipcRenderer;
    },
  };

  const addPort = (id) => {
    const { port1, port2 } = new MessageChannel();
    ports.set(id, port1);
    port1.onmessage = (event) => send({ kind: 'port', id, data: encode(event.data) });
    return port2;
  };

  const take = {
    ipc({ channel, args, ports: ids }) {
      const event = { sender: ipcRenderer, ports: ids.map(addPort) };
      for (const listener of [...(listeners.get(channel) ?? [])]) listener(event, ...args.map(decode));
    },
    port: ({ id, data }) => ports.get(id)?.postMessage(decode(data)),
    'port-close'({ id }) {
      const port = ports.get(id);
      ports.delete(id);
      port?.close();
    },
  };
  globalThis.__substituteDeliver = (batch) => {
    for (const message of batch) take[message.kind](message);
  };

  const strict = (name, target) =>
    new Proxy(target, {
      get(object, property) {
        if (property in object || typeof property === 'symbol' || property === 'then') return object[property];
        throw new Error(`The substitute for Electron does not model ${name}.${property}`);
      },
    });
  const electron = strict('electron', { ipcRenderer: strict('ipcRenderer', ipcRenderer) });
  const require = (name) => {
    if (name === 'electron') return electron;
    throw new Error(`A sandboxed preload cannot require ${name}`);
  };
  const module = { exports: {} };
  preload(require, module, module.exports);
};
