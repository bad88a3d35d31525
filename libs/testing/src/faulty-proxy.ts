import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { listenOnReusablePort } from './addresses.ts';
import { atEnd } from './at-end.ts';

export type FaultyProxy = Awaited<ReturnType<typeof createFaultyProxy>>;

const REFUSAL =
  'HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/html\r\nContent-Length: 14\r\nConnection: close\r\n\r\n<p>Away.</p>\r\n';

/** Returns a proxy in front of the server of a URL, and the URL by which clients reach the server through it. */
export async function createProxyFor(server: string) {
  const url = new URL(server);
  const proxy = await createFaultyProxy({ host: url.hostname, port: Number(url.port) });
  url.host = `${proxy.host}:${proxy.port}`;
  return { proxy, url: url.href };
}

/** A TCP proxy in front of a real server that simulates its failures. */
export async function createFaultyProxy(target: { host: string; port: number }) {
  const host = '127.0.0.1';
  const sockets = new Set<Socket>();
  const stranded = new Set<Socket>();
  let frozen = false;
  let refused: string | undefined;
  let connections = 0;

  const server = createServer((client) => {
    connections += 1;
    const upstream = connect(target);
    const pair = [client, upstream];
    for (const socket of pair) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined); // 'close' follows
      socket.on('close', () => {
        sockets.delete(socket);
        stranded.delete(socket);
        for (const end of pair) end.destroy();
      });
    }
    client.on('data', (bytes: Buffer) => {
      if (refused === undefined || !bytes.includes(refused)) return;
      upstream.unpipe(client);
      client.end(REFUSAL, () => upstream.destroy());
    });
    client.pipe(upstream).pipe(client);
    if (frozen) for (const socket of pair) socket.pause();
  });

  /** Destroys all connections and refuses new ones: a killed process. */
  const cut = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };

  const port = await listenOnReusablePort(server);
  atEnd(cut);
  return {
    host,
    port,
    /** Keeps and accepts connections, but forwards nothing: a stopped process, a black hole. */
    freeze() {
      frozen = true;
      for (const socket of sockets) socket.pause();
    },
    thaw() {
      frozen = false;
      for (const socket of sockets) if (!stranded.has(socket)) socket.resume();
    },
    /** Keeps the current connections open but silent forever; new ones work: a firewall that lost its state. */
    strand() {
      for (const socket of sockets) stranded.add(socket.pause());
    },
    cut,
    restore: async () => void (await once(server.listen(port, host), 'listening')),
    /** Responds to requests that contain this text like a load balancer whose servers are down; without a text, forwards all. */
    refuse: (text?: string) => void (refused = text),
    connections: () => connections,
    close: cut,
  };
}
