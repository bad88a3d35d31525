import { eventually } from '@taskmesh/testing';
import { createGraphql, createRest, type Answer } from '../clients/http.ts';
import { subscribe, type Subscriber } from '../clients/subscriber.ts';
import { contradictions, type Acknowledged } from './history.ts';

/** An account with one writer, who goes on whatever the answers are, and one subscriber, who comes back whenever cut off. */
export interface Actor {
  /** Writes until `stop` is called. */
  stop(): Promise<void>;
  /** After everything has settled: what contradicts the promises of the feed. */
  verdict(): Promise<string[]>;
  figures(): { acknowledged: number; refused: number; unknown: number; changes: number; longestGapMs: number };
}

export interface ActorOptions {
  /** The gateways. */
  urls: string[];
  name: string;
  random: () => number;
  /** Pause between two writes. */
  paceMs: number;
}

/** Nothing but these may come back, whatever is down. */
const EXPECTED_STATUSES = new Set([200, 201, 404, 503]);
const REQUEST_TIMEOUT_MS = 15_000;

export async function createActor({ urls, name, random, paceMs }: ActorOptions): Promise<Actor> {
  const account = await signUp(urls[0] ?? '', name);
  const graphql = createGraphql(urls[0] ?? '');
  const { data } = await graphql<{ tasks: { changesCursor: string } }>('{ tasks { changesCursor } }', account);
  const subscriber = await subscribe(urls, account.token, { after: data.tasks.changesCursor });

  const acknowledged: Acknowledged[] = [];
  const living: string[] = [];
  const surprises: string[] = [];
  let refused = 0;
  let unknown = 0;
  let lastAnswerAt = performance.now();
  let longestGapMs = 0;
  let isStopped = false;
  let count = 0;

  const step = async () => {
    const rest = createRest(urls[Math.floor(random() * urls.length)] ?? '');
    const send = (method: string, path: string, body?: unknown) =>
      withTimeout(rest<{ data?: { id: string; title: string } }>(method, path, { ...account, body }));
    const luck = random();
    const index = Math.floor(random() * living.length);
    const taskId = living[index];
    const title = `${name} ${++count}`;
    if (taskId === undefined || luck < 0.4) {
      const answer = note(await send('POST', '/tasks', { title }));
      if (answer?.status !== 201 || !answer.body.data) return;
      acknowledged.push({ kind: 'INSERT', taskId: answer.body.data.id, title });
      living.push(answer.body.data.id);
    } else if (luck < 0.85) {
      const answer = note(await send('PATCH', `/tasks/${taskId}`, { title }));
      if (answer?.status === 200) acknowledged.push({ kind: 'UPDATE', taskId, title });
    } else {
      const answer = note(await send('DELETE', `/tasks/${taskId}`));
      // Whatever became of a delete without an answer, the task is left alone from here on.
      living.splice(index, 1);
      if (answer?.status === 200) acknowledged.push({ kind: 'DELETE', taskId });
    }
  };

  const note = <Body>(answer: Answer<Body> | undefined) => {
    if (!answer) {
      unknown++;
      return undefined;
    }
    const now = performance.now();
    if (answer.status === 503) refused++;
    else {
      longestGapMs = Math.max(longestGapMs, now - lastAnswerAt);
      lastAnswerAt = now;
    }
    if (!EXPECTED_STATUSES.has(answer.status)) surprises.push(`${name}: unexpected status ${answer.status}`);
    return answer;
  };

  const running = (async () => {
    while (!isStopped) {
      await step();
      await new Promise((resolve) => setTimeout(resolve, paceMs));
    }
  })();

  return {
    async stop() {
      isStopped = true;
      await running;
    },
    async verdict() {
      const tasks = await finalList(urls[0] ?? '', account);
      await settled(subscriber, urls[0] ?? '', account);
      await subscriber.close();
      return [
        ...surprises,
        ...subscriber.failures.map((failure) => `${name}: the stream failed: ${JSON.stringify(failure)}`),
        ...contradictions({ owner: name, acknowledged, changes: subscriber.changes, tasks }),
      ];
    },
    figures: () => ({
      acknowledged: acknowledged.length,
      refused,
      unknown,
      changes: subscriber.changes.length,
      longestGapMs: Math.round(longestGapMs),
    }),
  };
}

async function signUp(url: string, name: string): Promise<{ token: string }> {
  const answer = await createRest(url)<{ access_token: string }>('POST', '/auth/signup', {
    body: { email: `${name}-${Date.now()}@example.com`, password: 'correct horse battery staple', name },
  });
  if (answer.status !== 201) throw new Error(`Sign-up was answered with ${answer.status}.`);
  return { token: answer.body.access_token };
}

/** A broken connection or no answer in time: nobody knows what became of the write. */
async function withTimeout<Body>(answer: Promise<Answer<Body>>): Promise<Answer<Body> | undefined> {
  const late = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), REQUEST_TIMEOUT_MS).unref());
  return Promise.race([answer.catch(() => undefined), late]);
}

async function finalList(url: string, account: { token: string }): Promise<Map<string, string>> {
  const answer = await eventually(
    async () => {
      const list = await createRest(url)<{ data: { id: string; title: string }[] }>('GET', '/tasks', account);
      if (list.status !== 200) throw new Error(`The list was answered with ${list.status}.`);
      return list;
    },
    { timeoutMs: 30_000 },
  );
  return new Map(answer.body.data.map(({ id, title }) => [id, title]));
}

/** Waits until the subscriber has seen the last change of the store: asked of the store, not of the clock. */
async function settled(subscriber: Subscriber, url: string, account: { token: string }): Promise<void> {
  const { data } = await createGraphql(url)<{ tasks: { changesCursor: string } }>(
    '{ tasks { changesCursor } }',
    account,
  );
  await eventually(
    () => {
      const last = subscriber.changes.at(-1)?.cursor;
      if (last !== undefined && last !== data.tasks.changesCursor)
        throw new Error('The subscriber has not seen the last change.');
    },
    { timeoutMs: 30_000 },
  ).catch(() => undefined); // the checker says what is missing
}
