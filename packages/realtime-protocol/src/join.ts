import { decodeJwt } from 'jose';
import type { ChangeView } from './change-view.ts';
import type { Filter, FilterOf } from './filter.ts';
import type { Message } from './messages.ts';
import { columnNamed, isObject, JoinRefused, naming, type Change, type Table } from './table.ts';

/** The binary form stores a topic's length in one byte. */
const MAX_TOPIC_LENGTH = 255;

export interface JoinRequest {
  topic: string;
  joinRef: string | null;
  ref: string | null;
  /** Whether the client hears its own broadcasts, has them acknowledged, and wants to know who is present. */
  wants: { echoes: boolean; acknowledgements: boolean; presence: boolean };
  /** Compiles the bindings, once the token has been verified: that takes long. @throws JoinRefused */
  readBindings(): Binding[];
  /** The entries of the bindings as the client sent them, which the answer repeats. Not kept any longer: they may be large. */
  asked: Record<string, unknown>[];
  token: string;
  /** The client asked for cursors, so that it can resume later. */
  tellsCursor: boolean;
  /** The cursor to resume from. */
  since: string | undefined;
}

/** What channels are joined for. */
export interface Served {
  table: Table;
  filterOf: FilterOf;
  /** All sets of columns that were ever selected: a table has few. */
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
  const asked = readEntries(config['postgres_changes']);
  const token = tokenOf(payload['user_token'] ?? payload['access_token'], keys) ?? tokenOf(keys.apikey, keys);
  if (!token) throw new JoinRefused('Unauthorized: access_token required');
  const since = cursorIn(resume?.['since']);
  return {
    ...{ topic, joinRef, ref, wants, asked, token, tellsCursor: resume !== undefined, since },
    readBindings() {
      return this.asked.map((entry) => readBinding(entry, served)); // its own, which are let go of later
    },
  };
}

const objectIn = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});

/** Some clients send texts. */
function isOn(option: unknown): boolean {
  return option === true || option === 'true';
}

/** A channel keeps its cursor. */
const MAX_CURSOR_LENGTH = 255;

/** null and undefined mean to begin now. What is no cursor becomes '', which is rejected like any unreadable one. */
function cursorIn(since: unknown): string | undefined {
  if (since === undefined || since === null) return undefined;
  return typeof since === 'string' && since.length <= MAX_CURSOR_LENGTH ? since : '';
}

/** Why this topic can never be joined, with any token. */
export function topicRefusal(topic: string): string | undefined {
  if (!/^realtime:./.test(topic)) return 'TopicNameRequired: You must provide a topic name';
  if (topic.length > MAX_TOPIC_LENGTH) return 'TopicNameTooLong: A topic has at most 255 characters';
  return undefined;
}

/** One entry of a channel's `postgres_changes`: which kinds of changes it listens to, within a filter. */
export interface Binding {
  /** At least 1, and the same for equal bindings in every join. */
  id: number;
  kind: Change['kind'] | '*';
  /** Undefined means every change. */
  filter: Filter | undefined;
  /** The columns to send, in the table's order; undefined means all. */
  select: readonly string[] | undefined;
}

/** Per channel. */
export const MAX_BINDINGS = 100;

/** `config.postgres_changes` of a join. @throws JoinRefused */
function readEntries(asked: unknown): Record<string, unknown>[] {
  if (asked === undefined || asked === null) return [];
  if (!Array.isArray(asked)) throw new JoinRefused('postgres_changes must be a list', { isFinal: true });
  if (asked.length > MAX_BINDINGS)
    throw new JoinRefused(`too many postgres_changes: a channel has at most ${MAX_BINDINGS}`, { isFinal: true });
  const entries = asked.filter((entry: unknown) => entry !== null);
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

/** FNV-1a, cut to 27 bits. Never 0, which clients take for a missing id. */
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

/** Stands in for a token too long to be worth keeping; refused like any invalid token. */
const NO_TOKEN = 'none';
const MAX_TOKEN_LENGTH = 4_096;

/** The token to verify; undefined when the client sent nothing or a public key instead. */
export function tokenOf(value: unknown, { apikey, publicKey, isOfUser }: PublicKeys): string | undefined {
  if (typeof value !== 'string' || value === '' || value.startsWith('sb_')) return undefined;
  const isPublic = value === apikey || value === publicKey || hasAnonRole(value);
  if (isPublic && !isOfUser(value)) return undefined;
  return value.length > MAX_TOKEN_LENGTH ? NO_TOKEN : value;
}

/** A Supabase project's public key may be a JWT with this role. Unverified, as it grants nothing: like no token. */
function hasAnonRole(token: string): boolean {
  try {
    return decodeJwt(token)['role'] === 'anon';
  } catch {
    return false;
  }
}
