import { startTestGateway } from './fakes/gateway.ts';

// That nothing of it is left open is what every test file is checked for.
it('a gateway that cannot listen ends what it has begun', async () => {
  const first = await startTestGateway();
  const { port: PORT } = new URL(first.origin);
  await expect(startTestGateway({ beside: first, env: { PORT } })).rejects.toThrow('EADDRINUSE');
  await first.stop();
});
