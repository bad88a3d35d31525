/** A row, by the names of its columns. Times are texts of RFC 3339. */
export type Row = Readonly<Record<string, string | number | boolean | null>>;

export interface Column {
  name: string;
  /** As clients know it, who compare and convert values by it. */
  type: 'uuid' | 'text' | 'bool' | 'int4' | 'timestamptz';
}

/** The one table whose changes are served. */
export interface Table {
  /** @default 'public' */
  schema?: string;
  name: string;
  columns: readonly Column[];
}

/** A change of one row. Readers that get the same object share what is computed from it. */
export interface Change {
  kind: 'INSERT' | 'UPDATE' | 'DELETE';
  /** The row after the change; for DELETE, as it was. */
  record: Row;
  /** The row before the change, if there was one. */
  oldRecord: Row | null;
  /** When it was committed, as RFC 3339 has it. */
  occurredAt: string;
  /** Where a reader resumes that has received this change. */
  cursor: string;
  /** The trace of the request that made the change; clients find it beside `data`. */
  traceparent?: string | null | undefined;
}

export function columnNamed({ columns }: Table, name: string): Column | undefined {
  return columns.find((column) => column.name === name);
}

/** An error message that repeats the client's name, as the official server does, but only if it is an identifier. */
export function naming(what: string, name: unknown): string {
  return typeof name === 'string' && /^[a-z_][a-z0-9_]{0,62}$/i.test(name) ? `${what}: ${name}` : what;
}

/** Whether a JSON value is an object: neither null nor a list. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Why a join cannot be accepted, in words for the client. */
export class JoinRefused extends Error {
  override readonly name = 'JoinRefused';
  /** Joining again would fail in the same way. */
  readonly isFinal: boolean;

  constructor(reason: string, { isFinal = false } = {}) {
    super(reason);
    this.isFinal = isFinal;
  }
}
