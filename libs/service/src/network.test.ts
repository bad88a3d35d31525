import { closed } from '@taskmesh/testing';
import { fastify } from 'fastify';
import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { closePromptly, networkOf } from './network.ts';

it.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::FFFF:c000:0207', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0db8:0001:0002:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
  ['2001:db8::192.0.2.7', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['1::', '1:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['nonsense', 'nonsense'],
])('the key of a rate limit for %s is %s', (address, network) => {
  expect([networkOf(address), networkOf(address)]).toEqual([network, network]); // the second time it is known
});

const app = fastify({ logger: false, forceCloseConnections: 'idle' });
const asked = Promise.withResolvers<void>();
const answer = Promise.withResolvers<string>();
closePromptly(app, { mayTakeLong: () => false });
app.get('/slow', async () => {
  asked.resolve();
  return answer.promise;
});

app.get('/quick', () => 'made');
app.post('/body', () => 'made');

it('a stopping server waits for running requests, but not for connections without one', async () => {
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo; // it listens on TCP
  const open = async (text: string) => {
    const accepted = once(app.server, 'connection');
    const socket = connect({ port, host: '127.0.0.1' }).on('error', () => undefined);
    socket.write(text);
    await accepted;
    return socket.setEncoding('utf8').resume();
  };
  const silent = await open('');
  const halfway = await open('GET /slow HTTP/1.1\r\nHo');
  const post = 'POST /body HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"';
  const [halfBody, dripping] = [await open(post), await open(post.replace('9', '999'))];
  const drops = setInterval(() => dripping.write(' '), 100);
  const again = await open('GET /quick HTTP/1.1\r\nHost: here\r\n\r\nGET /qu');
  await once(again, 'data');
  const waiting = await open('GET /slow HTTP/1.1\r\nHost: here\r\n\r\n');
  await asked.promise;

  const stopped = app.close();
  await Promise.all([silent, halfway, halfBody, dripping, again].map(closed));
  clearInterval(drops);
  answer.resolve('made');
  const [text] = (await once(waiting, 'data')) as [string];
  expect(text).toMatch(/^HTTP\/1.1 200 OK\r\n[^]*made$/);
  await stopped;
});
