import { setTimeout as sleep } from 'node:timers/promises';
import { createGraphql, createRest } from '../http.ts';
import type { Write } from './write.ts';

export interface WriterOptions {
  /** The URLs of the gateways. */
  urls: string[];
  token: string;
  /** A unique prefix of all titles. */
  name: string;
  random: () => number;
  /** The average pause between two writes. */
  paceMs: number;
  /** Ids of the account's existing tasks, as far as its writers know. Shared by all writers. */
  living: string[];
  /** All writes of the account, in the order in which they were sent. */
  writes: Write[];
  /** Whether the account is being deleted: UNAUTHENTICATED then ends the writing, and is not a surprise. */
  isDoomed?: () => boolean;
}

/** The outcome of one request. After a refusal or without a response, it may have been done or not. */
type Outcome =
  | { outcome: 'done'; id: string | undefined }
  | { outcome: 'denied' | 'unauthenticated' }
  | { outcome: 'refused' | 'unanswered' }
  | { outcome: 'surprise'; what: string };

/** An outcome with the API and the gateway of the request. */
type WriteResponse = Outcome & { via: string };

/** A request without a response in this time counts as unanswered: services give up earlier. */
const TIMEOUT_MS = 20_000;
const RETRY_AFTER_MS = 200;
/** Above this number of tasks, writers delete more than they create, so that the list fits into one page. */
const MANY = 150;

/** Creates, changes and deletes tasks one by one, over REST and GraphQL at random gateways, whatever they respond. */
export function startWriter(options: WriterOptions) {
  const { urls, token, name, random, paceMs, living, writes, isDoomed = () => false } = options;
  const surprises: string[] = [];
  const counts = { refused: 0, retried: 0 };
  const stopping = new AbortController();
  let count = 0;

  const send = async (request: Request): Promise<WriteResponse> => {
    const url = urls[Math.floor(random() * urls.length)] ?? '';
    const isRest = random() < 0.5;
    const work = isRest ? overRest(url, token, request) : overGraphql(url, token, request);
    const late = sleep(TIMEOUT_MS, { outcome: 'unanswered' as const }, { ref: false });
    const answer = await Promise.race([work.catch(() => ({ outcome: 'unanswered' as const })), late]);
    if (answer.outcome === 'refused') counts.refused++;
    if (answer.outcome === 'surprise') surprises.push(`${name}: ${request.kind} was answered ${answer.what}`);
    if (answer.outcome === 'unauthenticated') {
      if (!isDoomed()) surprises.push(`${name}: ${request.kind} was answered as if there were no such account`);
      stopping.abort();
    }
    return { ...answer, via: `${isRest ? 'REST' : 'GraphQL'} at ${url}` };
  };

  /** Repeats a create with an idempotency key until its outcome is known. Sends other requests once. */
  const sendUntilClear = async (request: Request): Promise<WriteResponse> => {
    for (let isFirst = true; ; isFirst = false) {
      const answer = await send(request);
      // The outcome of the earlier attempts is still unknown.
      if (answer.outcome === 'unauthenticated') return { ...answer, outcome: isFirst ? 'denied' : 'unanswered' };
      const isOpen = answer.outcome === 'refused' || answer.outcome === 'unanswered';
      if (!isOpen || !request.key || stopping.signal.aborted) return answer;
      counts.retried++;
      await sleep(RETRY_AFTER_MS);
    }
  };

  const write = async (request: Request): Promise<WriteResponse> => {
    const { kind, title, id } = request;
    const named = { ...(title !== undefined && { title }), ...(id !== undefined && { taskId: id }) };
    const times = { sentAt: performance.now(), answeredAt: Infinity };
    const noted: Write = { kind, ...named, ...times, outcome: 'unknown' };
    writes.push(noted);
    const answer = await sendUntilClear(request);
    if (answer.outcome === 'done' || answer.outcome === 'denied') {
      noted.answeredAt = performance.now();
      noted.via = answer.via;
      noted.outcome = answer.outcome === 'done' ? 'confirmed' : 'denied';
      if (answer.outcome === 'done' && kind === 'INSERT' && answer.id) noted.taskId = answer.id;
    }
    return answer;
  };

  const step = async () => {
    const dice = random();
    const index = Math.floor(random() * living.length);
    const id = living[index];
    const title = `${name} ${++count}`;
    if (id === undefined || dice < (living.length > MANY ? 0.1 : 0.35)) {
      const key = random() < 0.5 ? title : undefined;
      const answer = await write({ kind: 'INSERT', title, ...(key && { key }) });
      if (answer.outcome === 'done' && answer.id) living.push(answer.id);
    } else if (dice < 0.8) {
      await write({ kind: 'UPDATE', id, title });
    } else {
      living.splice(index, 1); // whatever the outcome, no writer uses the task again
      await write({ kind: 'DELETE', id });
    }
  };

  const running = (async () => {
    while (!stopping.signal.aborted) {
      await step();
      await sleep(paceMs * 2 * random());
    }
  })();

  return {
    /** Responses that must not occur, even during faults. */
    surprises,
    counts,
    /** Resolves when the writer has stopped. */
    ended: running,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

interface Request {
  kind: Write['kind'];
  id?: string;
  title?: string;
  /** Makes a create safe to repeat. */
  key?: string;
}

type Refusal = 'denied' | 'refused' | 'unauthenticated';

/**
 * Expected failures: the account no longer exists (401), the task was deleted (404), the first call with this key is still
 * running (409), or the service is unavailable (503).
 */
const STATUSES: Record<number, Refusal> = { 401: 'unauthenticated', 404: 'denied', 409: 'refused', 503: 'refused' };
const CODES: Record<string, Refusal> = {
  UNAUTHENTICATED: 'unauthenticated',
  NOT_FOUND: 'denied',
  CONFLICT: 'refused',
  SERVICE_UNAVAILABLE: 'refused',
};

async function overRest(url: string, token: string, { kind, id, title, key }: Request): Promise<Outcome> {
  const rest = createRest(url);
  const headers: Record<string, string> = key ? { 'idempotency-key': key } : {};
  const method = { INSERT: 'POST', UPDATE: 'PATCH', DELETE: 'DELETE' }[kind];
  const body = kind === 'DELETE' ? {} : { body: { title } };
  const path = kind === 'INSERT' ? '/tasks' : `/tasks/${id}`;
  const answer = await rest<{ data?: { id: string } }>(method, path, { token, headers, ...body });
  if (answer.status === 200 || answer.status === 201) return { outcome: 'done', id: answer.body.data?.id };
  const outcome = STATUSES[answer.status];
  return outcome ? { outcome } : { outcome: 'surprise', what: `${answer.status} ${JSON.stringify(answer.body)}` };
}

const MUTATIONS: Record<Write['kind'], string> = {
  INSERT:
    'mutation($title: String!, $key: String) { t: createTask(input: { title: $title }, idempotencyKey: $key) { id } }',
  UPDATE: 'mutation($id: ID!, $title: String) { t: updateTask(id: $id, input: { title: $title }) { id } }',
  DELETE: 'mutation($id: ID!) { deleteTask(id: $id) }',
};

async function overGraphql(url: string, token: string, { kind, ...variables }: Request): Promise<Outcome> {
  const graphql = createGraphql(url);
  const answer = await graphql<{ t?: { id: string } } | null | undefined>(MUTATIONS[kind], { token, variables });
  const { data, errors } = answer;
  if (data && !errors) return { outcome: 'done', id: data.t?.id };
  const outcome = CODES[errors?.[0]?.extensions.code ?? ''];
  return outcome ? { outcome } : { outcome: 'surprise', what: JSON.stringify(answer) };
}
