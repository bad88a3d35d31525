import { nameOf } from './program-name.ts';

const CHROME = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';

it.each([
  [CHROME, 'Chrome on Linux'],
  [`${CHROME} Edg/140.0.0.0`, 'Edge on Linux'],
  ['Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Windows'],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
    'Safari on iPhone',
  ],
  ['curl/8.14.1', 'curl/8.14.1'],
  ['x'.repeat(200), `${'x'.repeat(60)}…`],
  [null, 'An unnamed program'],
])('%s is shown as %s', (userAgent, name) => expect(nameOf(userAgent)).toBe(name));
