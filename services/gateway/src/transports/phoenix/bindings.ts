import type { TaskChanged } from '@taskmesh/contracts';
import { isObject } from '@taskmesh/service';
import type { ChangeView } from './change-view.ts';
import { columnNamed, naming, type Column } from './columns.ts';
import { compileFilter, FilterError, type Filter } from './filter.ts';

/** One entry of a channel's `postgres_changes`: which kinds of changes it listens to, within a filter. */
export interface Binding {
  /** The entry as the client sent it; the reply has to repeat it verbatim. */
  asked: Record<string, unknown>;
  /** At least 1, and the same for equal bindings in every join. */
  id: number;
  kind: TaskChanged['kind'] | '*';
  /** Undefined means every change. */
  filter: Filter | undefined;
  /** The columns to send; undefined means all. */
  select: readonly Column['name'][] | undefined;
}

/** `isFinal` when joining again would fail the same way. */
export class BindingError extends Error {
  override readonly name = 'BindingError';
  readonly isFinal: boolean;

  constructor(message: string, isFinal: boolean) {
    super(message);
    this.isFinal = isFinal;
  }
}

/** Per channel. */
export const MAX_BINDINGS = 100;

/** Reads `config.postgres_changes` of a join. @throws BindingError */
export function readBindings(asked: unknown): Binding[] {
  if (asked === undefined || asked === null) return [];
  if (!Array.isArray(asked)) throw new BindingError('postgres_changes must be a list', true);
  if (asked.length > MAX_BINDINGS)
    throw new BindingError(`too many postgres_changes: a channel has at most ${MAX_BINDINGS}`, true);
  return asked.filter((entry) => entry !== null).map(readBinding);
}

function readBinding(asked: unknown): Binding {
  if (!isObject(asked)) throw new BindingError('an entry of postgres_changes must be an object', true);
  const { event, schema, table, filter, select } = asked;
  if (schema !== undefined && schema !== 'public' && schema !== '*')
    throw new BindingError(naming('unknown schema', schema), true);
  if (table !== undefined && table !== null && table !== 'tasks' && table !== '*')
    throw new BindingError(naming('unknown table', table), true);
  if (filter !== undefined && filter !== null && typeof filter !== 'string')
    throw new BindingError('a filter must be a string', false);
  return {
    asked,
    id: stableId(JSON.stringify([event, schema, table, filter, select])),
    kind: event === 'INSERT' || event === 'UPDATE' || event === 'DELETE' ? event : '*',
    filter: readFilter(filter ?? ''),
    select: readSelect(select),
  };
}

function readFilter(text: string): Binding['filter'] {
  try {
    return compileFilter(text);
  } catch (error) {
    if (error instanceof FilterError) throw new BindingError(error.message, false);
    throw error;
  }
}

function readSelect(select: unknown): Binding['select'] {
  if (select === undefined || select === null) return undefined;
  if (!Array.isArray(select)) throw new BindingError('select must be a list of columns', false);
  const names = select.map((name: unknown) => {
    const column = typeof name === 'string' ? columnNamed(name) : undefined;
    if (!column) throw new BindingError(naming('unknown column', name), false);
    return column.name;
  });
  return [...new Set<Column['name']>(['id', ...names])];
}

/** FNV-1a, cut to 27 bits. Never 0, which clients take for a missing id. */
function stableId(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return (hash >>> 0) & 0x07ffffff || 1;
}

/** True when the row matched the filter before the change or matches it now. */
export function concernsBinding({ kind, filter }: Binding, change: TaskChanged, view: ChangeView): boolean {
  return (kind === '*' || kind === change.kind) && (!filter || view.isWithin(filter));
}
