/** A row, keyed by column name. Times are strings in the format of RFC 3339. */
export type Row = Readonly<Record<string, string | number | boolean | null>>;

export interface Column {
  name: string;
  /** The type as clients know it: they use it to compare and convert values. */
  type: 'uuid' | 'text' | 'bool' | 'int4' | 'timestamptz';
}

/** The one table whose changes are served. */
export interface Table {
  /** @default 'public' */
  schema?: string;
  name: string;
  columns: readonly Column[];
}

/** A change of one row. Readers that receive the same object share the values computed from it. */
export interface Change {
  kind: 'INSERT' | 'UPDATE' | 'DELETE';
  /** The row after the change; for DELETE, as it was. */
  record: Row;
  /** The row before the change, if there was one. */
  oldRecord: Row | null;
  /** When the change was committed, in the format of RFC 3339. */
  occurredAt: string;
  /** The cursor from which a reader resumes after this change. */
  cursor: string;
  /** The trace of the request that made the change. Sent to clients beside `data`. */
  traceparent?: string | null | undefined;
}

export function columnNamed({ columns }: Table, name: string): Column | undefined {
  return columns.find((column) => column.name === name);
}

/** Builds an error message that repeats the client's name, like the official server, but only if the name is an identifier. */
export function naming(what: string, name: unknown): string {
  return typeof name === 'string' && /^[a-z_][a-z0-9_]{0,62}$/i.test(name) ? `${what}: ${name}` : what;
}

/** Whether a JSON value is an object: neither null nor a list. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A join that cannot be accepted. The message is for the client. */
export class JoinRefused extends Error {
  override readonly name = 'JoinRefused';
  /** Whether joining again would fail in the same way. */
  readonly isFinal: boolean;

  constructor(reason: string, { isFinal = false } = {}) {
    super(reason);
    this.isFinal = isFinal;
  }
}
