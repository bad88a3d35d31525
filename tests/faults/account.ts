import { eventually } from '@taskmesh/testing';
import { createGraphql, createRest } from '../clients/http.ts';
import { PROTOCOLS } from '../clients/streams/protocols.ts';
import { openStream, type Stream } from '../clients/streams/stream.ts';
import { contradictions, type Contradiction, type Write } from './history.ts';
import { startWriter } from './writer.ts';

export interface AccountOptions {
  /** The gateways. */
  urls: string[];
  name: string;
  random: () => number;
  /** Writers at work side by side. @default 2 */
  writers?: number;
  /** Each writer's pause between two writes, on average. */
  paceMs: number;
}

/** An account with its writers and a stream of every protocol, which come back whenever they are cut off. */
export interface Account {
  ownerId: string;
  streams: Stream[];
  stopWriting(): Promise<void>;
  /** After the last write: waits until every stream has told it, then says which promises were not kept. */
  verdict(): Promise<Verdict>;
  figures(): AccountFigures;
  close(): Promise<void>;
}

export interface Verdict {
  contradictions: Contradiction[];
  /** Answers and ends of streams that nobody may get, whatever is down. */
  surprises: string[];
}

export interface AccountFigures {
  confirmed: number;
  denied: number;
  /** Nobody told what became of them. */
  unknown: number;
  /** Answers of 503. */
  refused: number;
  /** Creates that were sent again with their idempotency keys. */
  retried: number;
  /** The longest time in which no write of one writer was answered. */
  longestGapMs: number;
  streams: { protocol: string; events: number; resumes: number; latenciesMs: number[] }[];
}

const SETTLE_TIMEOUT_MS = 60_000;

export async function createAccount(options: AccountOptions): Promise<Account> {
  const { urls, name, random, writers: writerCount = 2, paceMs } = options;
  const url = urls[0] ?? '';
  const { token, ownerId } = await signUp(url, name);
  const changesCursor = async () => {
    const { data } = await createGraphql(url)<{ tasks: { changesCursor: string } }>('{ tasks { changesCursor } }', {
      token,
    });
    return data.tasks.changesCursor;
  };
  const after = await changesCursor();
  const streams = await Promise.all(
    PROTOCOLS.map((protocol, index) =>
      openStream({ ...protocol, urls: [...urls.slice(index % urls.length), ...urls], token, after }),
    ),
  );
  const living: string[] = [];
  const writes: Write[] = [];
  const writers = Array.from({ length: writerCount }, (_, index) =>
    startWriter({ urls, token, name: `${name}.${index}`, random, paceMs, living, writes }),
  );

  /** Resolves when every stream has told the last change: asked of the store, not of the clock. */
  const settled = async () => {
    const last = await eventually(changesCursor, { timeoutMs: SETTLE_TIMEOUT_MS });
    await eventually(() => streams.every((stream) => stream.cursor() === last), { timeoutMs: SETTLE_TIMEOUT_MS });
  };

  return {
    ownerId,
    streams,
    async stopWriting() {
      await Promise.all(writers.map((writer) => writer.stop()));
    },
    async verdict() {
      const isSettled = await settled().then(
        () => true,
        () => false, // the comparison says what is missing
      );
      const tasks = await finalList(url, token);
      const histories = new Map(streams.map(({ protocol, changes }) => [protocol, [...changes]]));
      return {
        contradictions: contradictions({ owner: name, ownerId, writes, streams: histories, tasks }),
        surprises: [
          ...(isSettled ? [] : [`${name}: the streams did not reach the end of the feed`]),
          ...writers.flatMap(({ surprises }) => surprises),
          ...streams.flatMap(({ protocol, failures }) => failures.map((failure) => `${name}, ${protocol}: ${failure}`)),
        ],
      };
    },
    figures() {
      const count = (outcome: Write['outcome']) => writes.filter((write) => write.outcome === outcome).length;
      return {
        confirmed: count('confirmed'),
        denied: count('denied'),
        unknown: count('unknown'),
        refused: writers.reduce((sum, { counts }) => sum + counts.refused, 0),
        retried: writers.reduce((sum, { counts }) => sum + counts.retried, 0),
        longestGapMs: Math.round(Math.max(...writers.map((writer) => writer.longestGapMs()))),
        streams: streams.map((stream) => ({
          protocol: stream.protocol,
          events: stream.changes.length,
          resumes: stream.resumes(),
          latenciesMs: latencies(stream, writes),
        })),
      };
    },
    async close() {
      await Promise.all([...writers.map((writer) => writer.stop()), ...streams.map((stream) => stream.close())]);
    },
  };
}

/** From a write's answer to its event; 0 where the event was there first. */
function latencies({ changes }: Stream, writes: Write[]): number[] {
  const answers = new Map(
    writes.flatMap(({ title, outcome, answeredAt }) =>
      title !== undefined && outcome === 'confirmed' ? [[title, answeredAt] as const] : [],
    ),
  );
  return changes.flatMap(({ kind, task, seenAt }) => {
    const answeredAt = kind === 'DELETE' ? undefined : answers.get(task.title);
    return answeredAt === undefined ? [] : [Math.max(0, seenAt - answeredAt)];
  });
}

async function signUp(url: string, name: string): Promise<{ token: string; ownerId: string }> {
  const answer = await createRest(url)<{ access_token: string; user: { id: string } }>('POST', '/auth/signup', {
    body: {
      email: `${name}-${Date.now()}@example.com`,
      password: 'correct horse battery staple',
      name: name.slice(0, 50),
    },
  });
  if (answer.status !== 201) throw new Error(`Sign-up was answered with ${answer.status}.`);
  return { token: answer.body.access_token, ownerId: answer.body.user.id };
}

async function finalList(url: string, token: string): Promise<Map<string, string>> {
  const answer = await eventually(
    async () => {
      const list = await createRest(url)<{ data: { id: string; title: string }[] }>('GET', '/tasks', { token });
      if (list.status !== 200) throw new Error(`The list was answered with ${list.status}.`);
      return list;
    },
    { timeoutMs: SETTLE_TIMEOUT_MS },
  );
  return new Map(answer.body.data.map(({ id, title }) => [id, title]));
}
