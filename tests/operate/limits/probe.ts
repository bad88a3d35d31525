import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

// Loaded into the product before its own code. Reports the resources used between `begin` and `end`.

const TICK_MS = 1;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const threadMs = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};
const processMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

let timer: NodeJS.Timeout | undefined;
let begunMs = 0;
let lastTickMs = 0;
let pauseMs = 0;

/** Measures CPU time of the main thread instead of elapsed time, so that other work on the machine does not count. */
function tick(): void {
  const nowMs = threadMs();
  pauseMs = Math.max(pauseMs, nowMs - lastTickMs);
  lastTickMs = nowMs;
}

const commands = {
  begin() {
    clearInterval(timer);
    timer = setInterval(tick, TICK_MS);
    pauseMs = 0;
    begunMs = processMs();
    lastTickMs = threadMs();
    return undefined;
  },
  end() {
    const cpuMs = processMs() - begunMs;
    tick();
    clearInterval(timer);
    return { cpuMs, pauseMs };
  },
  /** CPU time of the process since its start, in milliseconds. */
  cpu: processMs,
  /** Collects garbage, and returns the bytes still in use, in V8's heap and outside of it. */
  collect() {
    collect();
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  },
};

process.on('message', (command: keyof typeof commands) => process.send?.({ result: commands[command]() }));
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
process.channel?.unref();
