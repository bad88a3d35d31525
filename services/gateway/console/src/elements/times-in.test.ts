import { timesIn } from './times-in.ts';

it.each([
  ['All is well.', [{ text: 'All is well.' }]],
  [
    'Scheduled backups have failed since 2026-11-20T10:00:00.000Z.',
    [{ text: 'Scheduled backups have failed since ' }, { at: '2026-11-20T10:00:00.000Z' }, { text: '.' }],
  ],
  [
    '2026-11-21T09:00:00Z or 2026-11-22T09:00:00.123456Z',
    [{ at: '2026-11-21T09:00:00Z' }, { text: ' or ' }, { at: '2026-11-22T09:00:00.123456Z' }],
  ],
  ['taskmesh-20261120T033000Z-5f1e.tar.gz', [{ text: 'taskmesh-20261120T033000Z-5f1e.tar.gz' }]],
  ['2026-99-99T99:99:99Z', [{ text: '2026-99-99T99:99:99Z' }]],
  ['', []],
])('finds the times in “%s”', (text, parts) => expect(timesIn(text)).toEqual(parts));
