import { localUrl, portOf } from './ports.ts';

it.each([
  ['127.0.0.1', 'http://127.0.0.1:4000'],
  ['0.0.0.0', 'http://127.0.0.1:4000'],
  ['::', 'http://[::1]:4000'],
  ['fe80::1', 'http://[fe80::1]:4000'],
  ['tasks.lan', 'http://tasks.lan:4000'],
])('the address of a server that listens on %s can be reached by clients', (host, url) => {
  expect(localUrl(host, 4000)).toBe(url);
});

it.each([
  ['http://127.0.0.1:4000', 4000],
  ['http://127.0.0.1:80', 80],
  ['https://tasks.lan', 443],
])('the port of %s is %d', (url, port) => expect(portOf(url)).toBe(port));
