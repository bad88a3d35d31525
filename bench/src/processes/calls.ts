import { startNode, type NodeOptions } from './start-node.ts';

/** What a process does for whoever has started it, one call after the other. Values pass as JSON has them. */
type Calls = Record<string, (...args: never[]) => Promise<unknown>>;
type Reply = { result?: unknown } | { failure: string };

/** Has this process do what its parent calls, until that is gone. */
export function answerCalls(calls: Calls): void {
  process.once('disconnect', () => process.exit(0));
  process.on('message', ({ name, args }: { name: string; args: never[] }) => {
    const answer = (reply: Reply) => void process.send?.(reply);
    void calls[name]?.(...args).then(
      (result) => answer({ result }),
      (error: unknown) => answer({ failure: error instanceof Error ? error.message : String(error) }),
    );
  });
}

/** Starts a process that answers these calls. One at a time. */
export async function startCalled<Called extends Calls>(
  options: NodeOptions & { calls: readonly (keyof Called & string)[] },
): Promise<Called & { pid: number; stop(): Promise<void> }> {
  const child = await startNode(options);
  const call = async (name: string, args: unknown[]) => {
    const replied = child.nextMessage();
    child.process.send({ name, args }, () => undefined); // a broken channel is an end, too
    const reply = (await replied) as Reply; // both ends are ours
    if ('failure' in reply) throw new Error(reply.failure);
    return reply.result;
  };
  const calls = options.calls.map((name) => [name, (...args: unknown[]) => call(name, args)]);
  return { ...(Object.fromEntries(calls) as Called), pid: child.pid, stop: () => child.stop() };
}
