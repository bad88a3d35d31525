import type { Mail } from '@taskmesh/mail';
import type { RunName } from './failing-run.entity.ts';

/** A message to operators, without secrets, host names and users' content. */
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
export function bodyOf(notice: Notice): string {
  return JSON.stringify({ text: sentenceOf(notice), ...notice });
}

export function mailOf(notice: Notice, to: string): Mail {
  const subject = `Taskmesh: ${RUNS[notice.run]} ${notice.event === 'failed' ? 'failed' : 'works again'}`;
  const more = notice.event === 'failed' ? ["backup's log says more. You are told again when it works, and once a day until then."] : []; // prettier-ignore
  return { to, subject, text: [sentenceOf(notice), '', ...more, ''].join('\n') };
}

function sentenceOf({ event, run, at, since, message }: Notice): string {
  const time = (date: Date) => `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  if (event === 'recovered') return `${RUNS[run]} works again (${time(at)}); it had failed since ${time(since)}.`;
  return `${RUNS[run]} failed (${time(at)}): ${message}`;
}
