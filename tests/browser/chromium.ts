import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { CHROMIUM_ARGS, findChromium } from './find-chromium.ts';

const START_MS = 30_000;
const STOP_MS = 5_000;

/** A headless Chromium, driven through the DevTools protocol. */
export interface Chromium {
  /** Opens a page in a context of its own: nothing of other pages is in it. Resolves when it is loaded. */
  open(url: string): Promise<Page>;
  stop(): Promise<void>;
}

export interface Page {
  /** The value of an expression, as JSON; promises are awaited. @throws Error with what the page threw */
  evaluate<Value>(expression: string): Promise<Value>;
  /** What went wrong in the page and was not caught, and what it was not allowed to load. */
  problems: string[];
  close(): Promise<void>;
}

interface Answer {
  id?: number;
  sessionId?: string;
  method?: string;
  result?: unknown;
  params?: unknown;
  error?: { message: string };
}

interface Evaluated {
  result: { value: unknown };
  exceptionDetails?: { text: string; exception?: { description?: string } };
}

/** The system's Chromium (or Chrome), else Debian's package. */
export async function startChromium(): Promise<Chromium> {
  const program = await findChromium();
  const profile = mkdtempSync(join(tmpdir(), 'taskmesh-chromium-'));
  const args = ['--headless=new', '--remote-debugging-port=0', `--user-data-dir=${profile}`, '--no-first-run'];
  const child = spawn(program, [...args, ...CHROMIUM_ARGS, 'about:blank'], { stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async () => {
    // It ends all its processes by itself, when it still can.
    const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    child.kill('SIGTERM');
    await exited;
    clearTimeout(late);
    child.stderr.destroy();
    rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  };
  try {
    const session = await connect(await debuggingUrl(child.stderr, exited));
    return {
      open: (url) => openPage(session, url),
      async stop() {
        session.close();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** It prints its address once it listens. */
function debuggingUrl(stderr: NodeJS.ReadableStream, exited: Promise<void>): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const fail = (why: string) => reject(new Error(`Chromium ${why}. It said: ${text.slice(-2_000)}`));
    const late = setTimeout(() => fail('did not start in time'), START_MS);
    void exited.then(() => fail('ended'));
    stderr.on('data', (chunk) => {
      text += String(chunk);
      const url = /DevTools listening on (ws:\S+)/.exec(text)?.[1];
      if (!url) return;
      clearTimeout(late);
      resolve(url);
    });
  });
}

type Session = Awaited<ReturnType<typeof connect>>;

async function connect(url: string) {
  const socket = new WebSocket(url);
  const waiting = new Map<number, { resolve: (result: unknown) => void; reject: (error: Error) => void }>();
  const listeners = new Set<(event: Answer) => void>();
  let count = 0;
  await new Promise<void>((resolve, reject) => socket.once('open', resolve).once('error', reject));
  socket.on('message', (bytes) => {
    const answer: Answer = JSON.parse(String(bytes));
    if (answer.id === undefined) return listeners.forEach((listen) => listen(answer));
    const { resolve, reject } = waiting.get(answer.id) ?? {};
    waiting.delete(answer.id);
    if (answer.error) reject?.(new Error(answer.error.message));
    else resolve?.(answer.result);
  });
  socket.on('close', () => waiting.forEach(({ reject }) => reject(new Error('Chromium is gone.'))));
  return {
    send: <Result>(method: string, params: object = {}, sessionId?: string) =>
      new Promise<Result>((resolve, reject) => {
        const id = ++count;
        waiting.set(id, { resolve: resolve as (result: unknown) => void, reject }); // as the protocol has it
        socket.send(JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) }));
      }),
    listen: (listener: (event: Answer) => void) => void listeners.add(listener),
    close: () => socket.terminate(),
  };
}

async function openPage({ send, listen }: Session, url: string): Promise<Page> {
  const { browserContextId } = await send<{ browserContextId: string }>('Target.createBrowserContext');
  const { targetId } = await send<{ targetId: string }>('Target.createTarget', {
    url: 'about:blank',
    browserContextId,
  });
  const { sessionId } = await send<{ sessionId: string }>('Target.attachToTarget', { targetId, flatten: true });
  const problems: string[] = [];
  const loaded = new Promise<void>((resolve) => {
    listen((event) => {
      if (event.sessionId !== sessionId) return;
      if (event.method === 'Page.loadEventFired') resolve();
      if (event.method === 'Runtime.exceptionThrown') problems.push(JSON.stringify(event.params));
    });
  });
  await send('Page.enable', {}, sessionId);
  await send('Runtime.enable', {}, sessionId);
  await send('Page.navigate', { url }, sessionId);
  await loaded;
  return {
    async evaluate<Value>(expression: string) {
      const options = { expression, awaitPromise: true, returnByValue: true };
      const { result, exceptionDetails } = await send<Evaluated>('Runtime.evaluate', options, sessionId);
      if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
      return result.value as Value; // typed by the test
    },
    problems,
    close: async () => void (await send('Target.disposeBrowserContext', { browserContextId })),
  };
}
