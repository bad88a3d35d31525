import { readFileSync } from 'node:fs';
import { statFields } from './processes.mjs';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Passes each signal on to a child that stands apart from the terminal, as it is or `as` another one, and ends the child
 * when npm, which started us, is gone. `lastHeard` gives the signal that came last.
 */
export function passSignalsTo(child, { as } = {}) {
  let last;
  const pass = (signal) => {
    last = signal;
    child.kill(as ?? signal);
  };
  for (const signal of SIGNALS) process.on(signal, pass);
  const timer = watchNpm(() => pass('SIGTERM'));
  child.once('exit', () => {
    clearInterval(timer);
    for (const signal of SIGNALS) process.off(signal, pass);
  });
  return { lastHeard: () => last };
}

/** npm that was killed cannot tell us. So, started by npm, we look whether it is still there. */
function watchNpm(onGone) {
  if (!process.env.npm_lifecycle_event) return undefined;
  const atStart = ancestors();
  const timer = setInterval(() => {
    if (ancestors() === atStart) return;
    clearInterval(timer);
    onGone();
  }, 500);
  return timer.unref();
}

/** Our parent and, where npm put a shell between, its parent. Ids change when one of them ends. */
function ancestors() {
  const [, grandparent] = statFields(process.ppid) ?? [];
  return isShell(process.ppid) ? `${process.ppid} ${grandparent}` : String(process.ppid);
}

function isShell(pid) {
  try {
    return /^(sh|dash|bash)$/.test(readFileSync(`/proc/${pid}/comm`, 'utf8').trim());
  } catch {
    return false; // no /proc on this system
  }
}
