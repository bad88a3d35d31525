import { readSchemaPolicy, type SchemaPolicy } from '@taskmesh/database';
import { ConfigError, processSettings, readAll, readEnv, setting, type Env } from '@taskmesh/service';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { DEFAULT_MAX_ARCHIVE_MB, DEFAULT_MAX_EXPANDED_MB, MIB, type ArchiveSizes } from './archives/limits.ts';
import type { PgDump } from './dump/pg-dump.ts';
import { readKeyFile } from './encryption/key-file.ts';
import { parseKeepRules, type KeepRules } from './schedule/keep-rules.ts';
import { whyNoPattern } from './schedule/scheduler.ts';
import { parseS3Url, type S3Location } from './storage/s3-location.ts';
import type { StoreName } from './stores/store.ts';

export interface BackupConfig extends ArchiveSizes {
  /** Our own database: the catalogue and the journal of restores. */
  postgresUrl: string;
  /** Where archives lie. */
  backupsDir: string;
  /** For what is extracted and written for the time of one run. */
  scratchDir: string;
  /** The store that `database.sql` is a dump of. */
  restoreStore: StoreName;
  /** The pg_dump to use when it is fit for a store's server. Absent: none. */
  pgDump?: PgDump | undefined;
  /** When archives are made: a cron pattern in UTC. Absent: only when somebody asks. */
  schedule?: string | undefined;
  /** Which of the scheduled archives are kept. Absent: all. */
  keep?: KeepRules | undefined;
  /** Whether each scheduled archive is proved at once. @default true */
  verifiesScheduled?: boolean;
  /** @default brings the schema up to date itself */
  schema?: SchemaPolicy;
  secrets: {
    /** With the right to create and rename databases and roles on each store's server; the path names the store's database. */
    adminUrls: Record<StoreName, string>;
    /** Age identities: the first one encrypts new archives, any of them decrypts. Without one, archives are not encrypted. */
    keys?: string[];
    /** Present: archives lie there, and not in `backupsDir`. */
    s3?: S3Location | undefined;
  };
}

const postgresUrl = () => setting.url('postgres:', 'postgresql:');
const databaseUrl = () =>
  postgresUrl().refine((value) => URL.canParse(value) && new URL(value).pathname.length > 1, 'must name a database');

const MAX_MB = 1024 * 1024;
const megabytes = (usual: number) => setting.int(1, MAX_MB).default(usual);

const schedule = () =>
  setting.text().superRefine((value, ctx) => {
    const message = whyNoPattern(value);
    if (message !== undefined) ctx.addIssue({ code: 'custom', message });
  });

const s3 = () =>
  setting.text().transform((value, ctx) => {
    const location = parseS3Url(value);
    if (location) return location;
    const message = 'must be like s3://bucket/prefix?region=eu-west-1, or s3://key:secret@bucket?endpoint=https://host';
    ctx.addIssue({ code: 'custom', message });
    return z.NEVER;
  });

const keep = () =>
  setting.text().transform((value, ctx) => {
    const rules = parseKeepRules(value);
    if (rules) return rules;
    ctx.addIssue({ code: 'custom', message: 'must be a number, or like last=3,daily=7,weekly=4,monthly=6,yearly=2' });
    return z.NEVER;
  });

const schema = z.object({
  ...processSettings,
  POSTGRES_URL: databaseUrl(),
  DATA_DIR: setting.text().default('.data'),
  BACKUPS_DIR: setting.text().optional(),
  BACKUP_MAX_ARCHIVE_MB: megabytes(DEFAULT_MAX_ARCHIVE_MB),
  BACKUP_MAX_EXPANDED_MB: megabytes(DEFAULT_MAX_EXPANDED_MB),
  BACKUP_PG_DUMP: setting.text().default('pg_dump'),
  BACKUP_S3_URL: s3().optional(),
  BACKUP_SCHEDULE: schedule().optional(),
  BACKUP_KEEP: keep().optional(),
  BACKUP_VERIFY: setting.flag().default(true),
  RESTORE_DATABASE: setting.oneOf(['tasks', 'auth']).default('tasks'),
  TASKS_ADMIN_URL: databaseUrl(),
  AUTH_ADMIN_URL: databaseUrl(),
});

/** @throws ConfigError with every problem */
export function readBackupConfig(env: Env): BackupConfig {
  const { values, keys, policy } = readAll({
    values: () => readEnv(schema, env),
    keys: () => readKeyFile(env, 'BACKUP_KEY_FILE'),
    policy: () => readSchemaPolicy(env),
  });
  if (values.BACKUP_KEEP && !values.BACKUP_SCHEDULE)
    throw new ConfigError(['BACKUP_KEEP says what is kept of scheduled archives: BACKUP_SCHEDULE is needed, too']);
  return {
    postgresUrl: values.POSTGRES_URL,
    backupsDir: resolve(values.BACKUPS_DIR ?? join(values.DATA_DIR, 'backups')),
    scratchDir: resolve(values.DATA_DIR, 'backup-scratch'),
    maxArchiveBytes: values.BACKUP_MAX_ARCHIVE_MB * MIB,
    maxExpandedBytes: values.BACKUP_MAX_EXPANDED_MB * MIB,
    pgDump: values.BACKUP_PG_DUMP === 'none' ? undefined : { program: values.BACKUP_PG_DUMP, env: clientEnv(env) },
    schedule: values.BACKUP_SCHEDULE,
    keep: values.BACKUP_KEEP,
    verifiesScheduled: values.BACKUP_VERIFY,
    restoreStore: values.RESTORE_DATABASE,
    schema: policy,
    secrets: {
      adminUrls: { tasks: values.TASKS_ADMIN_URL, auth: values.AUTH_ADMIN_URL },
      keys,
      s3: values.BACKUP_S3_URL,
    },
  };
}

/** What PostgreSQL's programs look at, and what finds them. */
function clientEnv(env: Env): Env {
  const isOfClients = (name: string) => /^(PATH|HOME|LD_LIBRARY_PATH|PG[A-Z]+)$/.test(name);
  return Object.fromEntries(Object.entries(env).filter(([name]) => isOfClients(name)));
}
