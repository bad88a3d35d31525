import { jest } from '@jest/globals';
import { decode, encode, type Message } from '../src/messages.ts';
import { BINDINGS, createChannelWorld } from './world.ts';

const join: Message = { joinRef: '1', ref: '1', topic: 'realtime:tasks', event: 'phx_join', payload: { config: {} } };

/** A broadcast in the binary format: its kind, the lengths of its parts, the encoding, the parts and the body. */
const binary = (kind: number, parts: string[]) =>
  Buffer.concat([
    Buffer.from([kind, ...parts.map((part) => Buffer.byteLength(part)), 1]),
    Buffer.from(`${parts.join('')}{"a":1}`),
  ]);

describe('frames of a channel', () => {
  it.each(['1.0.0', '2.0.0'] as const)('decode what they encode, in %s', (version) => {
    expect(decode(version, Buffer.from(encode(version, join)), false)).toEqual(join);
  });

  it('have the format of their version', () => {
    const { joinRef, ...rest } = join;
    expect(JSON.parse(encode('2.0.0', join))).toEqual(['1', '1', 'realtime:tasks', 'phx_join', { config: {} }]);
    expect(JSON.parse(encode('1.0.0', join))).toEqual({ ...rest, join_ref: joinRef });
  });

  it('decode a binary broadcast, and echo it without its refs', () => {
    const parts = ['realtime:tasks', 'größer', '{"m":1}'];
    const broadcast = { joinRef: '1', ref: '72', topic: 'realtime:tasks', event: 'broadcast', echo: binary(4, parts) };
    expect(decode('2.0.0', binary(3, ['1', '72', ...parts]), true)).toMatchObject(broadcast);
  });

  it('are dropped when the metadata of a broadcast ends too early', () => {
    const frame = binary(3, ['1', '7', 'realtime:tasks', 'shout', '']);
    frame[5] = 255;
    expect(decode('2.0.0', frame, true)).toBeUndefined();
  });

  it.each([
    ['nonsense', 'nonsense', false],
    ['null', 'null', false],
    ['a list that is too short', '["1","1","t","e"]', false],
    ['a topic that is not a string', '["1","1",5,"e",{}]', false],
    ['an object in version 2', '{"topic":"t","event":"e","payload":{}}', false],
    ['an empty binary frame', '', true],
    ['a binary frame that ends too early', '\u0003\u00ff\u00ff\u00ff\u00ff\u00ff\u0001', true],
    ['a payload that is nested too deeply', `["1","1","t","e",{"a":${'['.repeat(40)}${']'.repeat(40)}}]`, false],
    ['a deep nesting', `["1","1","t","e",${'['.repeat(30_000)}`, false],
  ])('are dropped for %s', (_what, text, isBinary) => {
    expect(decode('2.0.0', Buffer.from(text, 'latin1'), isBinary)).toBeUndefined();
  });
});

it('the frames of a change are encoded once for each set of columns, even if the ids of the bindings differ', async () => {
  const world = createChannelWorld();
  const client = world.connect();
  for (const topic of ['a', 'b', 'c', 'd']) {
    const binding = { ...BINDINGS[0], filter: `title=neq.${topic}` };
    const config = { postgres_changes: [binding, { ...binding, select: ['title'] }] };
    await client.join(topic, { config }, `realtime:${topic}`);
  }
  const encoded = jest.spyOn(Buffer, 'from');
  world.commit('ada', { title: 'größer' });
  const texts = encoded.mock.calls.flatMap(([text]) => (String(text).includes('größer') ? [text] : []));
  encoded.mockRestore();
  expect(texts).toHaveLength(2);
  expect(client.received()).toEqual(Array(8).fill('größer'));
  expect(new Set(client.frames.flatMap(([, , , , { ids }]) => ids ?? []))).toHaveProperty('size', 8);
  world.end();
});
