import { createLog } from './log.ts';

const CIRCLE = new Error('a');
CIRCLE.cause = new Error('b', { cause: CIRCLE });

describe('a log', () => {
  it('tells an error and its causes in one sentence', () => {
    const lines: string[] = [];
    const log = createLog({ service: 'test', level: 'info', destination: { write: (line) => void lines.push(line) } });
    const cause = new Error('timeout expired');
    log.error({ err: new Error('The service is away; try again.', { cause }) }, 'no');
    const { err } = JSON.parse(lines.join(''));
    expect(err).toMatchObject({ type: 'Error', message: 'The service is away; try again: timeout expired' });
    expect(err.stack).toContain('caused by: Error: timeout expired');
    log.error({ err: 'no error at all' }, 'no');
    expect(JSON.parse(lines[1] ?? '').err).toBe('no error at all');
  });

  it.each([
    ['is frozen', Object.freeze(new Error('strange')), 'strange'],
    [
      'holds a frozen one',
      Object.assign(new Error('strange'), { inner: Object.freeze(new Error('in it')) }),
      'strange',
    ],
    ['has a message that is no text', Object.assign(new Error('lost'), { message: 5 }), '5'],
    ['has no message', Object.assign(new Error('lost'), { message: undefined }), 'undefined'],
    [
      'has itself as its cause',
      Object.assign(new Error('strange'), { message: 'round', cause: CIRCLE }),
      /^round: a: b: a/,
    ],
  ])('tells of an error that %s, too', (_what, err, message) => {
    const lines: string[] = [];
    const log = createLog({ service: 'test', level: 'info', destination: { write: (line) => void lines.push(line) } });
    log.error({ err }, 'no');
    expect(JSON.parse(lines.join(''))).toMatchObject({ msg: 'no', err: { type: 'Error', stack: expect.any(String) } });
    expect(JSON.parse(lines.join('')).err.message).toMatch(message);
  });

  it('suppresses a flood of equal warnings, and says how many it suppressed', async () => {
    jest.useFakeTimers();
    try {
      const lines: string[] = [];
      const log = createLog({
        service: 'test',
        level: 'info',
        destination: { write: (line) => void lines.push(line) },
      });
      for (let count = 0; count < 1_000; count += 1) log.warn({ count }, 'no database');
      log.warn('another');
      log.info('no database');
      expect(lines).toHaveLength(22);
      jest.advanceTimersByTime(10_000);
      expect(lines).toHaveLength(23);
      expect(JSON.parse(lines[22] ?? '')).toMatchObject({ level: 'warn', msg: 'no database', suppressed: 980 });
      log.warn('no database');
      expect(lines).toHaveLength(24);
    } finally {
      jest.useRealTimers();
    }
  });

  it('has neither secrets nor what PostgreSQL cites of a row in an error', () => {
    const lines: string[] = [];
    const log = createLog({ service: 'test', level: 'info', destination: { write: (line) => void lines.push(line) } });
    const refused = { detail: 'Key (a)=(hidden) exists.', where: 'COPY t, line 1: "hidden"', internalQuery: 'hidden' };
    log.error({ err: Object.assign(new Error('refused'), refused), token: 'hidden', user: { email: 'hidden' } }, 'no');
    expect(lines.join('')).toContain('refused');
    expect(lines.join('')).not.toContain('hidden');
  });
});
