import { decodeJwt } from 'jose';
import type { ChangeView } from './change-view.ts';
import type { Filter, FilterOf } from './filter.ts';
import type { Message } from './messages.ts';
import { columnNamed, isObject, JoinRefused, naming, type Change, type Table } from './table.ts';

/** The binary format stores a topic's length in one byte. */
const MAX_TOPIC_LENGTH = 255;

export interface JoinRequest {
  topic: string;
  joinRef: string | null;
  ref: string | null;
  /** Whether the client wants to receive its own broadcasts, acknowledgements of broadcasts, and presence. */
  wants: { echoes: boolean; acknowledgements: boolean; presence: boolean };
  /** Compiles the bindings. Expensive, so call it only after the token has been verified. @throws JoinRefused */
  readBindings(): Binding[];
  /** The client's own entries for the bindings, which the reply repeats. Dropped after the reply, because they may be large. */
  requestedBindings: Record<string, unknown>[];
  token: string;
  /** Whether the client requested cursors, to resume later. */
  wantsCursor: boolean;
  /** The cursor to resume from. */
  since: string | undefined;
}

/** The table that channels serve, with its shared filters and selections. */
export interface Served {
  table: Table;
  filterOf: FilterOf;
  /** All sets of columns that were ever selected. A table has few. */
  selections: Map<string, readonly string[]>;
}

/** @throws JoinRefused */
export function readJoin(message: Message, served: Served, keys: PublicKeys): JoinRequest {
  const { topic, joinRef, ref, payload } = message;
  const config = objectIn(payload['config']);
  const [broadcast, presence] = [objectIn(config['broadcast']), objectIn(config['presence'])];
  const wants = {
    echoes: isOn(broadcast['self']),
    acknowledgements: isOn(broadcast['ack']),
    presence: isOn(presence['enabled']),
  };
  const resume = isObject(payload['resume']) ? payload['resume'] : undefined;
  const requestedBindings = readEntries(config['postgres_changes']);
  const token = tokenOf(payload['user_token'] ?? payload['access_token'], keys) ?? tokenOf(keys.apikey, keys);
  if (!token) throw new JoinRefused('Unauthorized: access_token required');
  const since = cursorIn(resume?.['since']);
  return {
    ...{ topic, joinRef, ref, wants, requestedBindings, token, wantsCursor: resume !== undefined, since },
    readBindings() {
      return this.requestedBindings.map((entry) => readBinding(entry, served)); // `this`, so that the entries can be freed later
    },
  };
}

const objectIn = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});

/** Some clients send strings. */
function isOn(option: unknown): boolean {
  return option === true || option === 'true';
}

/** Limited because a channel keeps its cursor. */
const MAX_CURSOR_LENGTH = 255;

/** null and undefined mean to start from now. An invalid cursor becomes '', which is rejected like any unreadable cursor. */
function cursorIn(since: unknown): string | undefined {
  if (since === undefined || since === null) return undefined;
  return typeof since === 'string' && since.length <= MAX_CURSOR_LENGTH ? since : '';
}

/** Why this topic can never be joined, whatever the token; undefined if it can. */
export function topicRefusal(topic: string): string | undefined {
  if (!/^realtime:./.test(topic)) return 'TopicNameRequired: You must provide a topic name';
  if (topic.length > MAX_TOPIC_LENGTH) return 'TopicNameTooLong: A topic has at most 255 characters';
  return undefined;
}

/** One entry of a channel's `postgres_changes`: the kinds of changes to receive, restricted by a filter. */
export interface Binding {
  /** At least 1, and identical for equal bindings in every join. */
  id: number;
  kind: Change['kind'] | '*';
  /** Undefined means every change. */
  filter: Filter | undefined;
  /** The columns to send, in the table's order; undefined means all. */
  select: readonly string[] | undefined;
}

/** The limit per channel. */
export const MAX_BINDINGS = 100;

/** Validates `config.postgres_changes` of a join. @throws JoinRefused */
function readEntries(requested: unknown): Record<string, unknown>[] {
  if (requested === undefined || requested === null) return [];
  if (!Array.isArray(requested)) throw new JoinRefused('postgres_changes must be a list', { isFinal: true });
  if (requested.length > MAX_BINDINGS)
    throw new JoinRefused(`too many postgres_changes: a channel has at most ${MAX_BINDINGS}`, { isFinal: true });
  const entries = requested.filter((entry: unknown) => entry !== null);
  if (!entries.every(isObject))
    throw new JoinRefused('an entry of postgres_changes must be an object', { isFinal: true });
  return entries;
}

/** @throws JoinRefused */
export function readBinding(entry: Record<string, unknown>, { table: served, filterOf, selections }: Served): Binding {
  const { event, schema, table, filter, select } = entry;
  if (schema !== undefined && schema !== (served.schema ?? 'public') && schema !== '*')
    throw new JoinRefused(naming('unknown schema', schema), { isFinal: true });
  if (table !== undefined && table !== null && table !== served.name && table !== '*')
    throw new JoinRefused(naming('unknown table', table), { isFinal: true });
  if (filter !== undefined && filter !== null && typeof filter !== 'string')
    throw new JoinRefused('a filter must be a string');
  return {
    id: stableId(JSON.stringify([event, schema, table, filter, select])),
    kind: event === 'INSERT' || event === 'UPDATE' || event === 'DELETE' ? event : '*',
    filter: filterOf(filter ?? ''),
    select: readSelect(select, served, selections),
  };
}

function readSelect(select: unknown, table: Table, selections: Served['selections']): Binding['select'] {
  if (select === undefined || select === null) return undefined;
  if (!Array.isArray(select)) throw new JoinRefused('select must be a list of columns');
  const names = select.map((name: unknown) => {
    const column = typeof name === 'string' ? columnNamed(table, name) : undefined;
    if (!column) throw new JoinRefused(naming('unknown column', name));
    return column.name;
  });
  const selected = table.columns.map(({ name }) => name).filter((name) => name === 'id' || names.includes(name));
  const shared = selections.get(selected.join()) ?? selected;
  selections.set(shared.join(), shared);
  return shared;
}

/** FNV-1a, truncated to 27 bits. Never 0, which clients treat as a missing id. */
function stableId(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return (hash >>> 0) & 0x07ffffff || 1;
}

/** True when the row matched the filter before the change or matches it now. */
export function concernsBinding({ kind, filter }: Binding, change: Change, view: ChangeView): boolean {
  return (kind === '*' || kind === change.kind) && (!filter || view.isWithin(filter));
}

/** Keys that identify an application, not a user. */
export interface PublicKeys {
  /** From the socket's URL; may also be a user's token. */
  apikey: string;
  /** The installation's own key, if it has one. */
  publicKey: string | undefined;
  /** Whether a text has the form of a user's token. */
  isOfUser(token: string): boolean;
}

/** Replaces a token that is too long to keep. Rejected like any invalid token. */
const NO_TOKEN = 'none';
export const MAX_TOKEN_LENGTH = 4_096;

/** Returns the token to verify; undefined if the client sent nothing or only a public key. */
export function tokenOf(value: unknown, { apikey, publicKey, isOfUser }: PublicKeys): string | undefined {
  if (typeof value !== 'string' || value === '' || value.startsWith('sb_')) return undefined;
  const isPublic = value === apikey || value === publicKey || hasAnonRole(value);
  if (isPublic && !isOfUser(value)) return undefined;
  return value.length > MAX_TOKEN_LENGTH ? NO_TOKEN : value;
}

/** A Supabase project's public key may be a JWT with this role. It is not verified, because it grants nothing. */
function hasAnonRole(token: string): boolean {
  try {
    return decodeJwt(token)['role'] === 'anon';
  } catch {
    return false;
  }
}
