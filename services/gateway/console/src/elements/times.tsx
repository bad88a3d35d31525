import type { ComponentChildren } from 'preact';
import { timesIn } from './times-in.ts';

const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });
const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const A_DAY = 24 * HOUR;

/** A time in any wording, such as “yesterday”; programs and the tooltip get the exact time. */
export function Time({ at, children }: { at: string; children: ComponentChildren }) {
  return (
    <time dateTime={at} title={EXACT.format(new Date(at))}>
      {children}
    </time>
  );
}

export function Ago({ at, now = Date.now() }: { at: string; now?: number }) {
  return <Time at={at}>{formatAgo(now - Date.parse(at), at)}</Time>;
}

export function Moment({ at }: { at: string }) {
  return <Time at={at}>{FULL.format(new Date(at))}</Time>;
}

export function Day({ at }: { at: string }) {
  return <Time at={at}>{DAY.format(new Date(at))}</Time>;
}

/** A message from the server, with its times in the user's format. */
export function Sentence({ text }: { text: string }) {
  return <>{timesIn(text).map((part, index) => ('at' in part ? <Moment key={index} at={part.at} /> : part.text))}</>;
}

function formatAgo(ms: number, at: string): string {
  if (ms < MINUTE) return 'just now';
  if (ms < HOUR) return RELATIVE.format(-Math.floor(ms / MINUTE), 'minute');
  if (ms < A_DAY) return RELATIVE.format(-Math.floor(ms / HOUR), 'hour');
  if (ms < 7 * A_DAY) return RELATIVE.format(-Math.floor(ms / A_DAY), 'day');
  return `on ${DAY.format(new Date(at))}`;
}
