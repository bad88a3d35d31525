const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const A_DAY = 24 * HOUR;

/** How long ago something was, and exactly when for whoever points at it. */
export function Ago({ at, now = Date.now() }: { at: string; now?: number }) {
  return (
    <time dateTime={at} title={FULL.format(new Date(at))}>
      {agoInWords(now - Date.parse(at), at)}
    </time>
  );
}

export function Moment({ at }: { at: string }) {
  return <time dateTime={at}>{FULL.format(new Date(at))}</time>;
}

export function Day({ at }: { at: string }) {
  return <time dateTime={at}>{DAY.format(new Date(at))}</time>;
}

function agoInWords(ms: number, at: string): string {
  if (ms < MINUTE) return 'just now';
  if (ms < HOUR) return RELATIVE.format(-Math.floor(ms / MINUTE), 'minute');
  if (ms < A_DAY) return RELATIVE.format(-Math.floor(ms / HOUR), 'hour');
  if (ms < 7 * A_DAY) return RELATIVE.format(-Math.floor(ms / A_DAY), 'day');
  return `on ${DAY.format(new Date(at))}`;
}
