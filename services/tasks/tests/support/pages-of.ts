import type { Statement } from '@taskmesh/store';
import { escapeLiteral, type Client } from 'pg';

const literal = (value: unknown): string => {
  if (value == null) return 'null';
  return escapeLiteral(
    Array.isArray(value) ? `{${value.join(',')}}` : value instanceof Date ? value.toISOString() : String(value),
  );
};

/** By their texts. */
const names = new WeakMap<Client, Map<string, string>>();

async function prepared(client: Client, text: string): Promise<string> {
  const known = names.get(client) ?? new Map<string, string>();
  names.set(client, known);
  const name = known.get(text) ?? `looked_into_${known.size}`;
  if (known.has(text)) return name;
  await client.query(`set plan_cache_mode = force_generic_plan`);
  await client.query(`prepare ${name} as ${text}`);
  known.set(text, name);
  return name;
}

/**
 * How many pages a statement touches, planned for any values, as the service's connections do. What is bound by the
 * protocol would be planned for its values in an EXPLAIN, even with that setting.
 */
export async function pagesOf(client: Client, { text }: Statement, values: unknown[]): Promise<number> {
  const name = await prepared(client, text);
  const { rows } = await client.query(
    `explain (analyze, buffers, timing off, format json) execute ${name} (${values.map(literal).join(', ')})`,
  );
  const { Plan } = rows[0]['QUERY PLAN'][0];
  return Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks'];
}
