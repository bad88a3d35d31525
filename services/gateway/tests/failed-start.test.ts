import { createMemoryKeyValue, type KeyValue } from '@taskmesh/key-value';
import { startTestGateway } from './fakes/gateway.ts';

it('a gateway that cannot listen ends what it has begun', async () => {
  const first = await startTestGateway();
  const store = createMemoryKeyValue();
  let [begun, ended] = [0, 0];
  const keyValue: KeyValue = {
    ...store,
    async subscribe(...args) {
      const unsubscribe = await store.subscribe(...args);
      begun++;
      return async () => {
        ended++;
        await unsubscribe();
      };
    },
  };
  const { port: PORT } = new URL(first.origin);
  await expect(startTestGateway({ beside: first, keyValue, env: { PORT } })).rejects.toThrow('EADDRINUSE');
  expect(begun).toBeGreaterThan(0);
  expect(ended).toBe(begun);
  await first.stop();
});
