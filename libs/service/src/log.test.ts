import { createLog } from './log.ts';

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

  it('has neither secrets nor what PostgreSQL cites of a row in an error', () => {
    const lines: string[] = [];
    const log = createLog({ service: 'test', level: 'info', destination: { write: (line) => void lines.push(line) } });
    const refused = { detail: 'Key (a)=(hidden) exists.', where: 'COPY t, line 1: "hidden"', internalQuery: 'hidden' };
    log.error({ err: Object.assign(new Error('refused'), refused), token: 'hidden', user: { email: 'hidden' } }, 'no');
    expect(lines.join('')).toContain('refused');
    expect(lines.join('')).not.toContain('hidden');
  });
});
