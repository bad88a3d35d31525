import type { Embedded } from './start-embedded.ts';
import { welcome } from './welcome.ts';

const PLATFORM = { url: 'http://127.0.0.1:4000', dataDir: '/data', logFile: '/data/log' } as Embedded;

it('prints the public address besides the local one', () => {
  jest.replaceProperty(process, 'env', { PUBLIC_URL: 'https://tasks.example.com' });
  expect(welcome(PLATFORM, '1.0')).toMatch(
    /^ {2}For others {4}https:\/\/tasks\.example\.com\n {2}REST {10}http:\/\/127\.0\.0\.1:4000\/api$/m,
  );
  jest.replaceProperty(process, 'env', {});
  expect(welcome(PLATFORM, '1.0')).not.toContain('For others');
});
