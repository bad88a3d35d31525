import { types, type Connection, type CustomTypesConfig, type FieldDef, type Pool, type QueryResultRow } from 'pg';
import { prepareValue } from 'pg/lib/utils.js';
import { serialize } from 'pg-protocol';
import { endsConnection } from './failures.ts';

/** A statement that PostgreSQL prepares once per connection. */
export interface Statement {
  name: string;
  text: string;
  /** How long it may take in a session, in ms. @default the timeout of the session */
  query_timeout?: number;
}

/** Returns the SQL that formats a time in RFC 3339, with milliseconds. */
export const rfc3339 = (time: string): string => `to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** How to parse PostgreSQL's messages into a row; fixed for as long as the connection keeps the statement. */
type RowShape = readonly { name: string; parse: (text: string) => unknown }[];

const DESCRIBE = serialize.describe({ type: 'P' });
const EXECUTE_AND_SYNC = Buffer.concat([serialize.execute(), serialize.sync()]);

/** The driver's record of the statements prepared on a connection: their texts by name. */
type Prepared = Connection & { parsedStatements: Readonly<Record<string, string>> };

const shapes = new WeakMap<Connection, Map<string, RowShape>>();

/**
 * Runs a prepared statement on a pooled connection, in one message. The driver's own query requests and parses the column
 * names and types with every execution, which costs as much as the rest of a small statement; this one does so once per
 * connection. That is safe because PostgreSQL refuses a prepared statement whose columns have changed.
 */
export function runPrepared<Row extends QueryResultRow>(
  pool: Pool,
  statement: Statement,
  values: unknown[],
): Promise<Row[]> {
  const query = new PreparedQuery(statement, values, pool.options.types ?? types);
  // The pool's own `query` closes the connection after every failure, even if a statement only violates a constraint.
  return new Promise((resolve, reject) => {
    pool.connect((unconnected, client, release) => {
      if (!client) return reject(unconnected);
      client.query<Row>(query, (error: Error | null, result?: { rows: Row[] }) => {
        release(error !== null && endsConnection(error));
        if (result) resolve(result.rows);
        else reject(error);
      });
    });
  });
}

/** A submittable, as the driver calls it: an object that sends its own messages and handles the responses. */
class PreparedQuery {
  readonly name: string;
  readonly text: string;
  /** Set by the driver. */
  callback: ((error: unknown, result?: { rows: object[] }) => void) | undefined;
  readonly #values: unknown[];
  readonly #types: CustomTypesConfig;
  readonly #rows: object[] = [];
  #known: Map<string, RowShape> | undefined;
  #shape: RowShape | undefined;
  #failure: unknown;

  constructor({ name, text }: Statement, values: unknown[], typeParsers: CustomTypesConfig) {
    this.name = name;
    this.text = text;
    this.#values = values;
    this.#types = typeParsers;
  }

  /** @returns an error for the driver to report if the values are invalid; nothing was sent in that case */
  submit(connection: Connection): Error | undefined {
    this.#known = shapesOn(connection);
    this.#shape = this.#known.get(this.name);
    try {
      connection.stream.write(this.#message(connection as Prepared));
      return undefined;
    } catch (error) {
      return Error.isError(error) ? error : new Error(String(error));
    }
  }

  #message({ parsedStatements }: Prepared): Buffer {
    const { name, text } = this;
    const parts = [serialize.bind({ statement: name, values: this.#values, valueMapper: prepareValue })];
    if (parsedStatements[name] === undefined) parts.unshift(serialize.parse({ name, text }));
    if (!this.#shape) parts.push(DESCRIBE);
    return Buffer.concat([...parts, EXECUTE_AND_SYNC]);
  }

  handleRowDescription({ fields }: { fields: FieldDef[] }): void {
    this.#learn(fields);
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    if (this.#failure !== undefined || !this.#shape) return;
    try {
      this.#rows.push(rowOf(fields, this.#shape));
    } catch (error) {
      this.#failure = error;
    }
  }

  handleCommandComplete(): void {
    if (!this.#shape) this.#learn([]); // a statement without rows gets no row description
  }

  handleReadyForQuery(): void {
    if (this.#failure === undefined) this.callback?.(null, { rows: this.#rows });
    else this.callback?.(this.#failure);
  }

  handleError(error: unknown): void {
    this.callback?.(error);
  }

  #learn(fields: FieldDef[]): void {
    this.#shape = shapeOf(fields, this.#types);
    this.#known?.set(this.name, this.#shape);
  }
}

function shapesOn(connection: Connection): Map<string, RowShape> {
  const known = shapes.get(connection);
  if (known) return known;
  const fresh = new Map<string, RowShape>();
  shapes.set(connection, fresh);
  return fresh;
}

const shapeOf = (fields: FieldDef[], types: CustomTypesConfig): RowShape =>
  fields.map(({ name, dataTypeID }) => ({ name, parse: types.getTypeParser(dataTypeID, 'text') }));

function rowOf(fields: (string | null)[], columns: RowShape): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (let i = 0; i < columns.length; i++) {
    const [column, text] = [columns[i], fields[i]];
    if (column) row[column.name] = typeof text === 'string' ? column.parse(text) : null;
  }
  return row;
}
