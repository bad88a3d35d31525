const A_DAY = 86_400_000;

/** Returns the local calendar day of a time in the format of date inputs: 2026-11-24. */
export function dayOf(time: string): string {
  const date = new Date(time);
  const year = String(date.getFullYear()).padStart(4, '0');
  return `${year}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`;
}

/** Returns the due time of a day: its last minute, in local time. */
export function endOf(day: string): string {
  return new Date(`${day}T23:59`).toISOString();
}

export function isOverdue(
  { completed, dueDate }: { completed: boolean; dueDate: string | null },
  now: number,
): boolean {
  return !completed && dueDate !== null && Date.parse(dueDate) < now;
}

/** Names days close to today, such as “Tomorrow” or “Friday”; other days are dates. */
export function formatDay(time: string, now: number): string {
  const date = new Date(time);
  const days = Math.round((midnightOf(date) - midnightOf(new Date(now))) / A_DAY);
  if (days === 0) return 'Today';
  if (days === 1) return 'Tomorrow';
  if (days === -1) return 'Yesterday';
  if (days > 1 && days < 7) return date.toLocaleDateString('en', { weekday: 'long' });
  const isThisYear = date.getFullYear() === new Date(now).getFullYear();
  return date.toLocaleDateString(undefined, {
    day: 'numeric',
    month: 'short',
    ...(!isThisYear && { year: 'numeric' }),
  });
}

export function formatOverdue(time: string, now: number): string {
  const day = formatDay(time, now);
  return `Overdue since ${day === 'Today' || day === 'Yesterday' ? day.toLowerCase() : day}`;
}

/** Differences need rounding to whole days: days on which the clocks change have 23 or 25 hours. */
function midnightOf(date: Date): number {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0');
}
