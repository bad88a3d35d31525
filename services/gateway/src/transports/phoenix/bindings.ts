import type { TaskChanged } from '@taskmesh/events';
import type { ChangeView } from './change-view.ts';
import { columnNamed, naming, type Column } from './columns.ts';
import { compileFilter, FilterError, type Filter } from './filter.ts';
import { isRecord } from './frames.ts';

/** One thing that a channel listens to: kinds of changes of a table, within a filter. */
export interface Binding {
  /** The client's own words, which the reply has to repeat to the letter. */
  asked: Record<string, unknown>;
  /** Stable: the same for the same binding, in every join; at least 1. */
  id: number;
  kind: TaskChanged['kind'] | '*';
  /** Undefined: every change. */
  filter: Filter | undefined;
  /** The columns to tell; undefined: all. */
  select: readonly Column['name'][] | undefined;
}

/** A join that is refused; `isFinal` when it would be refused again and again. */
export class BindingError extends Error {
  override readonly name = 'BindingError';
  readonly isFinal: boolean;

  constructor(message: string, isFinal: boolean) {
    super(message);
    this.isFinal = isFinal;
  }
}

/** Of one channel. */
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
  if (!isRecord(asked)) throw new BindingError('an entry of postgres_changes must be an object', true);
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

/** FNV-1a, 27 bits, never 0: clients take 0 for no id at all. */
function stableId(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return (hash >>> 0) & 0x07ffffff || 1;
}

/** A change concerns a binding when its row was within the filter before or is within it now. */
export function concernsBinding({ kind, filter }: Binding, change: TaskChanged, view: ChangeView): boolean {
  return (kind === '*' || kind === change.kind) && (!filter || view.isWithin(filter));
}
