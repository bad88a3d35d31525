import { z } from 'zod';
import { readEnv, setting, type Env } from './config.ts';
import { shortTokens } from './short-tokens.ts';

beforeAll(() => {
  readEnv(z.object({ BACKUP_TOKEN: setting.token().optional() }), {});
});

describe('a token of operators', () => {
  const told = (env: Env) => shortTokens({ NODE_ENV: 'production', ...env });

  it('is told where it is too short for production, and not shown', () => {
    const [problem, ...others] = told({ BACKUP_TOKEN: 'x'.repeat(31) });
    expect(problem).toMatch(/^BACKUP_TOKEN has fewer than 32 characters/);
    expect(problem).not.toContain('xxx');
    expect(others).toEqual([]);
  });

  it.each<Env>([
    { BACKUP_TOKEN: 'x'.repeat(32) },
    { BACKUP_TOKEN: '' },
    {},
    { BACKUP_TOKEN: 'abc', NODE_ENV: 'development' },
  ])('is not told otherwise: %j', (env) => expect(told(env)).toEqual([]));
});
