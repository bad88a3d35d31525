import type { Embedded } from './start-embedded.ts';
import { welcome } from './welcome.ts';

const PLATFORM = { url: 'http://127.0.0.1:4000', dataDir: '/data', logFile: '/data/log' } as Embedded;

it('prints the public address besides the local one', () => {
  const { PUBLIC_URL } = process.env;
  try {
    process.env.PUBLIC_URL = 'https://tasks.example.com';
    expect(welcome(PLATFORM, '1.0')).toMatch(
      /^ {2}For others {4}https:\/\/tasks\.example\.com\n {2}REST {10}http:\/\/127\.0\.0\.1:4000\/api$/m,
    );
    delete process.env.PUBLIC_URL;
    expect(welcome(PLATFORM, '1.0')).not.toContain('For others');
  } finally {
    if (PUBLIC_URL === undefined) delete process.env.PUBLIC_URL;
    else process.env.PUBLIC_URL = PUBLIC_URL;
  }
});
