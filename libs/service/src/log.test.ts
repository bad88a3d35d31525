import { createLog } from './log.ts';

describe('a log', () => {
  it('has neither secrets nor what PostgreSQL cites of a row in an error', () => {
    const lines: string[] = [];
    const log = createLog({ service: 'test', level: 'info', destination: { write: (line) => void lines.push(line) } });
    const refused = { detail: 'Key (a)=(hidden) exists.', where: 'COPY t, line 1: "hidden"', internalQuery: 'hidden' };
    log.error({ err: Object.assign(new Error('refused'), refused), token: 'hidden', user: { email: 'hidden' } }, 'no');
    expect(lines.join('')).toContain('refused');
    expect(lines.join('')).not.toContain('hidden');
  });
});
