import { ConfigError, isLoopbackHost, readAll, readEnv, setting, type Env } from '@taskmesh/service';
import { readSchemaPolicy } from '@taskmesh/store';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { readKeyFile } from './archives/key-file.ts';
import { archiveSizes, DEFAULT_MAX_ARCHIVE_MB, MAX_ARCHIVE_MB } from './archives/limits.ts';
import { parseRetentionRules } from './schedule/retention.ts';
import { findPatternProblem } from './schedule/scheduler.ts';
import { parseS3Url } from './storage/s3-location.ts';

export type BackupConfig = ReturnType<typeof readBackupConfig>;

const postgresUrl = () => setting.url('postgres:', 'postgresql:');
const databaseUrl = () =>
  postgresUrl().refine((value) => URL.canParse(value) && new URL(value).pathname.length > 1, 'must name a database');

const schedule = () =>
  setting.text().superRefine((value, ctx) => {
    const message = findPatternProblem(value);
    if (message !== undefined) ctx.addIssue({ code: 'custom', message });
  });

/** Messages reveal much about an installation, so they are sent only over TLS, or within this machine. */
const webhook = () =>
  setting.text().refine((value) => {
    const url = URL.canParse(value) ? new URL(value) : undefined;
    return url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackHost(url.host));
  }, 'must be a URL that starts with https://, or http:// to this machine');

/** Rejects a list without names: mails would reach no one, and archives would not be encrypted. */
const namesOf = (whom: string) => setting.list().refine((names) => names.length > 0, `must name ${whom}, or be empty`);

const addresses = () => namesOf('somebody').pipe(z.array(z.email('must be addresses with commas between them')));

const recipients = () => namesOf('a recipient');

/** A setting that `parse` accepts. */
const parsed = <Value>(parse: (text: string) => Value | undefined, message: string) =>
  setting.text().transform((value, ctx): Value => {
    const result = parse(value);
    if (result !== undefined) return result;
    ctx.addIssue({ code: 'custom', message });
    return z.NEVER;
  });

const S3_URL_MESSAGE =
  'must be like s3://bucket/prefix?region=eu-west-1, or s3://key:secret@bucket?endpoint=https://host; in a secret write / as %2F, % as %25 and the like';
const RULES_MESSAGE = 'must be a number, or like last=3,daily=7,weekly=4,monthly=6,yearly=2';

const UNIT_MS = { m: 60_000, h: 60 * 60_000, d: 24 * 60 * 60_000 };
/** A wrong restore is usually noticed within a day; until then, the old stores take disk space. */
const KEEP_OLD_MS = UNIT_MS.d;

const duration = () =>
  setting
    .text()
    .regex(/^(0|\d{1,4}[mhd])$/, 'must be 0, or a number of minutes, hours or days, such as 30m, 24h or 7d')
    .transform((value) => Number.parseInt(value, 10) * (UNIT_MS[value.at(-1) as keyof typeof UNIT_MS] ?? 0));

const schema = z.object({
  POSTGRES_URL: databaseUrl(),
  DATA_DIR: setting.text().default('.data'),
  BACKUPS_DIR: setting.text().optional(),
  BACKUP_MAX_ARCHIVE_MB: setting.int(1, MAX_ARCHIVE_MB).default(DEFAULT_MAX_ARCHIVE_MB),
  BACKUP_S3_URL: parsed(parseS3Url, S3_URL_MESSAGE).optional(),
  BACKUP_SCHEDULE: schedule().optional(),
  BACKUP_KEEP: parsed(parseRetentionRules, RULES_MESSAGE).optional(),
  BACKUP_VERIFY: setting.flag().optional(),
  BACKUP_VERIFY_SCHEDULE: schedule().optional(),
  BACKUP_RECIPIENTS: recipients().default([]),
  BACKUP_WEBHOOK_URL: webhook().optional(),
  BACKUP_MAIL_TO: addresses().default([]),
  SMTP_URL: setting.url('smtp:', 'smtps:').optional(),
  MAIL_FROM: setting.sender().default('Taskmesh <taskmesh@localhost>'),
  RESTORE_DATABASE: setting.oneOf(['tasks', 'auth']).default('tasks'),
  RESTORE_KEEP_OLD: duration().default(KEEP_OLD_MS),
  TASKS_ADMIN_URL: databaseUrl(),
  AUTH_ADMIN_URL: databaseUrl(),
});

/** @throws ConfigError with every problem */
export function readBackupConfig(env: Env) {
  const { values, keys, policy } = readAll({
    values: () => readEnv(schema, env),
    keys: () => readKeyFile(env, 'BACKUP_KEY_FILE'),
    policy: () => readSchemaPolicy(env),
  });
  if (values.BACKUP_KEEP && !values.BACKUP_SCHEDULE)
    throw new ConfigError(['BACKUP_KEEP applies to scheduled archives: set BACKUP_SCHEDULE as well']);
  const cannotDecrypt = values.BACKUP_RECIPIENTS.length > 0 && keys.length === 0;
  if (cannotDecrypt && (values.BACKUP_VERIFY === true || values.BACKUP_VERIFY_SCHEDULE))
    throw new ConfigError([`${values.BACKUP_VERIFY ? 'BACKUP_VERIFY' : 'BACKUP_VERIFY_SCHEDULE'} needs BACKUP_KEY_FILE: without a key, archives for BACKUP_RECIPIENTS cannot be opened`]); // prettier-ignore
  return {
    postgresUrl: values.POSTGRES_URL,
    backupsDir: resolve(values.BACKUPS_DIR ?? join(values.DATA_DIR, 'backups')),
    /** For extracting and writing archives. */
    temporaryDir: resolve(values.DATA_DIR, 'backup-scratch'),
    ...archiveSizes(values.BACKUP_MAX_ARCHIVE_MB),
    /** When archives are made: a cron pattern in UTC; undefined: only on request. */
    schedule: values.BACKUP_SCHEDULE,
    /** Which scheduled archives to keep; undefined: all. */
    keep: values.BACKUP_KEEP,
    /** Whether each scheduled archive is verified at once. */
    verifiesScheduled: values.BACKUP_VERIFY ?? !cannotDecrypt,
    /** When archives are verified again: a cron pattern in UTC; undefined: only on request. */
    verifySchedule: values.BACKUP_VERIFY_SCHEDULE,
    /** The age recipients who can open new archives; empty: the holder of the first key. */
    recipients: values.BACKUP_RECIPIENTS,
    /** Recipients of mails about failed scheduled runs; undefined: none. */
    mail:
      values.BACKUP_MAIL_TO.length > 0
        ? { to: values.BACKUP_MAIL_TO, from: values.MAIL_FROM, dataDir: values.DATA_DIR }
        : undefined,
    /** The store to which `database.sql` of an archive belongs. */
    restoreStore: values.RESTORE_DATABASE,
    /** How long stores replaced by a restore are kept for an undo; with 0 they are dropped at once. */
    keepOldMs: values.RESTORE_KEEP_OLD,
    /** Whether restores back up what they replace, unless the caller decides otherwise. */
    usesSafetyBackups: values.RESTORE_KEEP_OLD === 0, // otherwise a restore could not be undone
    schema: policy,
    secrets: {
      /** Administrators that may create and rename databases and roles; the path names the store's database. */
      adminUrls: { tasks: values.TASKS_ADMIN_URL, auth: values.AUTH_ADMIN_URL },
      /** Age identities: new archives are encrypted to the first; all are tried to decrypt. If none, archives are not encrypted. */
      keys,
      /** Receives HTTP requests about failed scheduled runs; undefined: none. */
      webhookUrl: values.BACKUP_WEBHOOK_URL,
      /** If undefined, mails are written to files. */
      smtpUrl: values.SMTP_URL,
      /** The bucket for archives; if undefined, they are stored in `backupsDir`. */
      s3: values.BACKUP_S3_URL,
    },
  };
}
