import { readPlatformConfig } from './config.ts';

const configOf = (env: Record<string, string>) => readPlatformConfig(env, 'postgres://localhost/postgres');

it.each([
  [{ HOST: '0.0.0.0', PORT: '4100' }, 'http://127.0.0.1:4100'],
  [{ HOST: '::' }, 'http://[::1]:4000'],
  [{ HOST: '::', PUBLIC_URL: 'https://tasks.example.com' }, 'https://tasks.example.com'],
])('the platform in one process uses an address in links that clients can reach: %j', (env, url) => {
  expect(configOf(env).auth.publicUrl).toBe(url);
  expect(configOf(env).gateway.publicUrl).toBe(url);
});
