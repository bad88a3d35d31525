import { createServer } from 'node:net';

it('forgets to close what it opened', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
});
