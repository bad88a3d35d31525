import { formatDay, dayOf, endOf, isOverdue, formatOverdue } from './due.ts';

const at = (text: string) => new Date(text).getTime();
const NOW = at('2026-11-24T10:00');

describe('a due date', () => {
  it('lasts until the end of the chosen day in local time', () => {
    expect(dayOf(endOf('2026-11-24'))).toBe('2026-11-24');
    expect(dayOf(endOf('0999-01-05'))).toBe('0999-01-05');
    const task = { completed: false, dueDate: endOf('2026-11-24') };
    expect(isOverdue(task, at('2026-11-24T23:58'))).toBe(false);
    expect(isOverdue(task, at('2026-11-25T00:00'))).toBe(true);
    expect(isOverdue({ ...task, completed: true }, at('2026-11-25T00:00'))).toBe(false);
    expect(isOverdue({ completed: false, dueDate: null }, NOW)).toBe(false);
  });

  it.each([
    ['2026-11-24', 'Today'],
    ['2026-11-25', 'Tomorrow'],
    ['2026-11-23', 'Yesterday'],
    ['2026-11-27', 'Friday'],
  ])('%s is shown as %s', (day, words) => expect(formatDay(endOf(day), NOW)).toBe(words));

  it('shows the year only if it is not the current one', () => {
    expect(formatDay(endOf('2026-12-24'), NOW)).not.toMatch(/2026/);
    expect(formatDay(endOf('2027-01-24'), NOW)).toMatch(/2027/);
  });
});

it.each([
  ['2026-11-24T08:00', 'Overdue since today'],
  ['2026-11-23T23:59', 'Overdue since yesterday'],
  ['2026-11-21T23:59', /^Overdue since .*21/],
])('says since when a task due %s is overdue', (due, words) => {
  expect(formatOverdue(new Date(due).toISOString(), Date.parse('2026-11-24T12:00'))).toMatch(words);
});
