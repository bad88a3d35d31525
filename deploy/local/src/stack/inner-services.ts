import type { Env } from '@taskmesh/service';
import { z } from 'zod';
import { ensureDatabases, describeMissingRights } from '../databases.ts';

/** The services behind the gateways. None of them needs another one to start. */
export const INNER_SERVICES = ['auth', 'tasks', 'backup'] as const;
export type InnerService = (typeof INNER_SERVICES)[number];

export const ofEachService = <Value>(valueOf: (service: InnerService) => Value) =>
  Object.fromEntries(INNER_SERVICES.map((service) => [service, valueOf(service)])) as Record<InnerService, Value>;

const DEFAULT_PREFIX = 'taskmesh_';

/** The setting DATABASE_PREFIX, which separates two installations on one PostgreSQL server. */
export const databasePrefix = () =>
  z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,23}$/, 'must be at most 24 small letters, digits or "_", with a letter first')
    .default(DEFAULT_PREFIX);

/** Every store has its own database. An empty prefix counts as absent, as in all settings. */
export const serviceDatabase = (service: InnerService, prefix?: string) => (prefix || DEFAULT_PREFIX) + service;

export const serviceDatabases = (prefix?: string) => INNER_SERVICES.map((service) => serviceDatabase(service, prefix));

/**
 * Creates missing databases, and logs privileges that a restore would lack.
 * @throws PlainError
 */
export async function ensureServiceDatabases(url: string, env: Env, log: (line: string) => void): Promise<void> {
  await ensureDatabases(url, serviceDatabases(env.DATABASE_PREFIX));
  for (const reason of await describeMissingRights(url, env)) log(reason);
}
