import { checkExternalServers } from '@taskmesh/local';
import { ConfigError, type Env } from '@taskmesh/service';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const expectedSecret = z.object({
  /** The variable that the service reads: a value for `env/…`, otherwise a path. Empty for a file that a URL names. */
  name: z.string(),
  secret: z.string(),
  key: z.string(),
  file: z.string(),
  /** The setting in the chart's values. */
  path: z.string(),
  /** For a URL: parameters that name files, with these files. */
  query: z.array(z.tuple([z.string(), z.string()])).optional(),
});

export const expectedSecrets = z.record(z.string(), z.array(expectedSecret));
export type ExpectedSecrets = z.output<typeof expectedSecrets>;

/** URLs of PostgreSQL besides POSTGRES_URL: for backup's administrators, and for migrations with a role of their own. */
const OTHER_POSTGRESQL_URLS = ['AUTH_ADMIN_URL', 'TASKS_ADMIN_URL', 'MIGRATION_URL'];

export async function preflight(options: {
  expected: ExpectedSecrets;
  secretsDir: string;
  env: Env;
  check?: typeof checkExternalServers;
}) {
  const { expected, secretsDir, env, check = checkExternalServers } = options;
  const problems = new Set<string>();
  const notes = new Set<string>();
  const checks = Object.entries(expected).flatMap(([component, secrets]) => {
    const dir = join(secretsDir, component);
    // Not every component uses Kafka, and each that does has its own login.
    const KAFKA_BROKERS = env[`KAFKA_BROKERS_OF_${component.toUpperCase()}`];
    const settings: Record<string, string | undefined> = { ...env, KAFKA_BROKERS };
    for (const secret of secrets) {
      const value = read(join(dir, secret.file));
      if (value?.trim())
        settings[secret.name] = secret.file.startsWith('env/') ? asRead(value, secret, dir) : join(dir, secret.file);
      else problems.add(missing(secret));
    }
    return [
      // Mail servers and buckets are outside its network policy.
      {
        env: { ...settings, SMTP_URL: undefined, BACKUP_S3_URL: undefined },
        locate: (sentence: string) => located(sentence, secrets),
      },
      ...secrets
        .filter(({ name }) => OTHER_POSTGRESQL_URLS.includes(name))
        .map((secret) => ({
          env: { POSTGRES_URL: settings[secret.name] },
          locate: (sentence: string) => located(sentence.replaceAll('POSTGRES_URL', secret.name), [secret]),
        })),
    ];
  });
  if (problems.size === 0)
    for (const { env: settings, locate } of checks) {
      try {
        for (const note of await check(settings)) notes.add(locate(note));
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        for (const problem of error.problems) problems.add(locate(problem));
      }
    }
  return {
    /** Sentences; any problem stops the upgrade. */
    problems: [...problems],
    /** Sentences about problems that may resolve themselves. */
    notes: [...notes],
  };
}

/** Adds where the chart's values name the secret, because three services have a POSTGRES_URL. */
function located(sentence: string, secrets: ExpectedSecrets[string]): string {
  const secret = secrets.find(({ name }) => name !== '' && sentence.startsWith(`${name} `));
  return secret ? `${secret.path} of the chart's values: ${sentence}` : sentence;
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** Returns a value as the service reads it: the pod's template appends parameters; the image trims all other values. */
function asRead(value: string, { query = [] }: ExpectedSecrets[string][number], dir: string): string {
  const parameters = query.map(([name, file]) => `${name}=${join(dir, file)}`);
  return parameters.length > 0 ? `${value}?${parameters.join('&')}` : value.trim();
}

const missing = ({ secret, key, path }: ExpectedSecrets[string][number]) =>
  `The secret ${secret} has no key ${key}, or does not exist: create it, or name another one at ${path} of the chart's values.`;
