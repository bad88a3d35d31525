import type { Mail } from '@taskmesh/mail';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunName } from './run.entities.ts';

/** A message to operators, without secrets, host names or users' content. */
export interface Notice {
  event: 'failed' | 'recovered';
  run: RunName;
  at: Date;
  since: Date;
  message?: string;
}

const RUNS: Record<RunName, string> = {
  backup: 'The scheduled backup',
  verification: 'The scheduled verification of backups',
  retention: 'The deletion of old backups',
};

/** The JSON body; chat services display `text`. */
function bodyOf(notice: Notice): string {
  return JSON.stringify({ text: sentenceOf(notice), ...notice });
}

export function mailOf(notice: Notice, to: string): Mail {
  const subject = `Taskmesh: ${RUNS[notice.run]} ${notice.event === 'failed' ? 'failed' : 'works again'}`;
  const hint = notice.event === 'failed' ? ["See backup's log. You get a message when it works again, and once a day until then."] : []; // prettier-ignore
  return { to, subject, text: [sentenceOf(notice), '', ...hint, ''].join('\n') };
}

function sentenceOf({ event, run, at, since, message }: Notice): string {
  const time = (date: Date) => `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  if (event === 'recovered') return `${RUNS[run]} works again (${time(at)}); it had failed since ${time(since)}.`;
  return `${RUNS[run]} failed (${time(at)}): ${message}`;
}

export interface WebhookOptions {
  /** May contain a secret, so it is never logged. */
  url: string;
  /** Time limit of one attempt. @default 10_000 */
  timeoutMs?: number;
  /** Pauses between attempts. @default 1 s, then 5 s */
  pausesMs?: number[];
}

/** Whether the status means that retrying is useless. */
const isFinal = (status: number) => status >= 300 && status < 500 && status !== 408 && status !== 429;

/** Posts a notice as JSON. @throws Error (without the URL) when no attempt succeeded */
export function createWebhook({ url, timeoutMs = 10_000, pausesMs = [1_000, 5_000] }: WebhookOptions) {
  const attempt = async (body: string): Promise<number | undefined> => {
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
        redirect: 'manual', // the target of a redirect was not configured
        signal: AbortSignal.timeout(timeoutMs),
      });
      await response.body?.cancel();
      return response.status;
    } catch {
      return undefined;
    }
  };

  return async (notice: Notice): Promise<void> => {
    const body = bodyOf(notice);
    for (let tries = 0; ; tries++) {
      const status = await attempt(body);
      if (status !== undefined && status < 300) return;
      const pauseMs = pausesMs[tries];
      if (pauseMs === undefined || (status !== undefined && isFinal(status)))
        throw new Error(`The webhook ${status === undefined ? 'does not respond' : `responded with ${status}`}.`);
      await sleep(pauseMs);
    }
  };
}
