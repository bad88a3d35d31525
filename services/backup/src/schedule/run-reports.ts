import { AppError, unavailable } from '@taskmesh/contracts';
import { createMailer } from '@taskmesh/mail';
import { timeOrderedIds, withDeadline, type Clock, type Log } from '@taskmesh/service';
import type { Database } from '@taskmesh/store';
import { isInFuture } from '../clock-skew.ts';
import type { CommonParts } from '../common-parts.ts';
import type { BackupConfig } from '../config.ts';
import type { BackupMetrics } from '../metrics.ts';
import { createWebhook, mailOf, type Notice } from './notices.ts';
import type { FailingRun, RunName } from './run.entities.ts';
import { createFailingRunRepository, type FailingRunRepository } from './run.repository.ts';

export interface RunReportsDeps {
  repository: Pick<FailingRunRepository, 'find' | 'save' | 'remove'>;
  /** Each channel sends to one recipient. If there are none, failures are only logged and counted. */
  channels: ((notice: Notice) => Promise<void>)[];
  metrics: Pick<BackupMetrics, 'scheduleFailed'>;
  now: () => Date;
  log: Log;
  /** After this time, a run counts as failed, and the next one may begin. @default a day */
  maxRunMs?: number;
}

export type RunReports = ReturnType<typeof createRunReports>;

/** The interval of reminders while a run keeps failing. */
const REMINDER_MS = 24 * 60 * 60_000;
const MAX_RUN_MS = 24 * 60 * 60_000;

export function createRunReports({ repository, channels, metrics, now, log, maxRunMs = MAX_RUN_MS }: RunReportsDeps) {
  /** Used when the database is unavailable, which may be the very failure to report. */
  const remembered = new Map<RunName, FailingRun>();
  const unsaved = new Set<RunName>();
  let isClosed = false;

  const find = async (run: RunName) =>
    unsaved.has(run) ? remembered.get(run) : repository.find(run).catch(() => remembered.get(run));
  const save = async (failing: FailingRun) => {
    const { run } = failing;
    remembered.set(run, failing);
    await repository.save(failing).then(
      () => unsaved.delete(run),
      () => unsaved.add(run),
    );
  };

  /** Returns whether somebody was reached. */
  const notify = async (notice: Notice): Promise<boolean> => {
    const sent = await Promise.allSettled(channels.map((send) => send(notice)));
    for (const { status, reason } of sent.filter((one) => one.status === 'rejected'))
      log.error({ err: reason, run: notice.run, event: notice.event, status }, 'operators not notified');
    return sent.some(({ status }) => status === 'fulfilled');
  };

  const reportFailure = async (run: RunName, error: unknown) => {
    metrics.scheduleFailed(run);
    const at = now();
    const { since: first = at, notifiedAt = null } = (await find(run)) ?? {};
    const isKnown = notifiedAt && !isInFuture(notifiedAt, at) && at.getTime() - notifiedAt.getTime() < REMINDER_MS;
    const since = first < at ? first : at;
    const message = error instanceof AppError ? error.message : "Unexpected; see backup's log.";
    const reached = !isKnown && (await notify({ event: 'failed', run, at, since, message }));
    await save({ run, since, notifiedAt: reached ? at : notifiedAt });
  };

  const reportSuccess = async (run: RunName) => {
    const failing = await find(run);
    if (!failing) return;
    const { since, notifiedAt } = failing;
    if (notifiedAt) await notify({ event: 'recovered', run, at: now(), since });
    await repository.remove(run); // even if no one was reached: the status must be right
    remembered.delete(run);
    unsaved.delete(run);
  };

  return {
    /**
     * Runs `work`; reports its failure unless it `isRetried`, and the first success after a reported failure. Gives up
     * waiting after `maxRunMs`. Returns whether the work succeeded; never throws.
     */
    async run(name: RunName, work: () => Promise<void>, isRetried = () => false): Promise<boolean> {
      try {
        await withDeadline(work(), maxRunMs, () => unavailable('It has not ended in time.'));
      } catch (error) {
        log.error({ err: error }, `scheduled ${name} failed`);
        if (!isClosed && !isRetried()) await reportFailure(name, error);
        return false;
      }
      await reportSuccess(name).catch((error: unknown) => log.warn({ err: error, run: name }, 'success not recorded'));
      return true;
    },
    /** Another instance has done the run, and kept its outcome. A failure that only we have reported is over. */
    async forget(run: RunName): Promise<void> {
      if (unsaved.has(run) && !(await repository.find(run))) await reportSuccess(run);
      remembered.delete(run);
      unsaved.delete(run);
    },
    /** Stops reporting, because later failures are caused by the shutdown. */
    close: () => void (isClosed = true),
  };
}

export interface NotifierDeps extends Pick<CommonParts, 'metrics' | 'now' | 'log'> {
  database: Database;
  clock: Clock;
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
