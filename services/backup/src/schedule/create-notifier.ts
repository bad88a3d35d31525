import type { Database } from '@taskmesh/store';
import { createMailer } from '@taskmesh/mail';
import { timeOrderedIds, type Clock, type Log } from '@taskmesh/service';
import type { BackupConfig } from '../config.ts';
import type { BackupMetrics } from '../metrics.ts';
import { createFailingRunRepository } from './failing-run.repository.ts';
import { mailOf, type Notice } from './notice.ts';
import { createRunReports, type RunReports } from './run-reports.ts';
import { createWebhook } from './webhook.ts';

export interface NotifierDeps {
  database: Database;
  clock: Clock;
  metrics: BackupMetrics;
  now: () => Date;
  log: Log;
}

export function createNotifier(
  { mail, secrets }: BackupConfig,
  { database, clock, metrics, now, log }: NotifierDeps,
): { reports: RunReports; close(): Promise<void> } {
  const mailer = mail && createMailer({ smtpUrl: secrets.smtpUrl, ...mail }, { clock, ids: timeOrderedIds, log });
  const mailTo = (to: string) => (notice: Notice) => mailer?.send(mailOf(notice, to)) ?? Promise.resolve();
  const channels = [
    ...(secrets.webhookUrl === undefined ? [] : [createWebhook({ url: secrets.webhookUrl })]),
    ...(mail?.to ?? []).map(mailTo),
  ];
  const repository = createFailingRunRepository(database);
  const reports = createRunReports({ repository, channels, metrics, now, log });
  return {
    reports,
    async close() {
      reports.close();
      await mailer?.close();
    },
  };
}
