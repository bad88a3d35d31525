import type { Profiler } from 'node:inspector';
import { HOOK } from '../hooks/ask-hook.ts';

/** How much of the busy time of a profile went where; shares add up to 1. */
export interface Summary {
  byPart: [part: string, share: number][];
  /** Time in the function itself. */
  byFunction: [name: string, share: number][];
  /** Time in the function and in all that it calls; of this repository's functions only. */
  byOwnFunction: [name: string, share: number][];
}

type Node = Profiler.ProfileNode;

/** Time in Node's own modules and in the engine counts to the package that called them. */
export function summarise(profile: Profiler.Profile): Summary {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const selfTimes = new Map<number, number>();
  profile.samples?.forEach((id, index) => {
    selfTimes.set(id, (selfTimes.get(id) ?? 0) + (profile.timeDeltas?.[index] ?? 0));
  });

  const parts = new Map<string, number>();
  const functions = new Map<string, number>();
  const own = new Map<string, number>();
  let busy = 0;
  const visit = (node: Node, caller: string, above: ReadonlySet<string>) => {
    if (node.callFrame.url === HOOK) return;
    const part = partOf(node, caller);
    const name = nameOf(node);
    const isOwn = /^(services|libs|deploy|bench)\//.test(name);
    const entered = isOwn && !above.has(name) ? new Set([...above, name]) : above;
    const self = part === '(idle)' ? 0 : (selfTimes.get(node.id) ?? 0);
    busy += self;
    add(parts, part, self);
    add(functions, name, self);
    for (const ownName of entered) add(own, ownName, self);
    for (const id of node.children ?? []) {
      const child = nodes.get(id);
      if (child) visit(child, part, entered);
    }
  };
  const root = profile.nodes[0];
  if (root) visit(root, '(node)', new Set());

  const shares = (times: Map<string, number>) =>
    [...times]
      .map(([name, time]): [string, number] => [name, time / busy])
      .filter(([, share]) => share > 0)
      .sort(([, one], [, other]) => other - one);
  return { byPart: shares(parts), byFunction: shares(functions), byOwnFunction: shares(own) };
}

function add(times: Map<string, number>, name: string, time: number): void {
  times.set(name, (times.get(name) ?? 0) + time);
}

function partOf({ callFrame: { functionName, url } }: Node, caller: string): string {
  if (['(idle)', '(garbage collector)', '(program)'].includes(functionName)) return functionName;
  // Its time is not to be believed: the sampler counts what passes on the clock, and the receiver takes the core here.
  if (url === '' && /^write(v|Utf8String|Latin1String|Buffer)$/.test(functionName)) return '(socket writes)';
  if (/^node:_?http|^node:internal\/http/.test(url)) return 'node http';
  if (url === '' || url.startsWith('node:')) return caller;
  const [, name] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? [];
  if (name) return name;
  // `services/gateway/src/rest/register-endpoints.ts` is in `services/gateway/rest`.
  const [, project, folder] = /((?:services|libs|deploy)\/[^/]+|bench)\/src\/(?:([^/]+)\/)?/.exec(url) ?? [];
  return [project, folder].filter(Boolean).join('/') || url;
}

function nameOf({ callFrame: { functionName, url, lineNumber } }: Node): string {
  const place = /((?:services|libs|deploy|bench|node_modules)\/.*)/.exec(url)?.[1] ?? url;
  return `${place.replace(/^node_modules\//, '')}:${functionName || `(anonymous, line ${lineNumber + 1})`}`;
}
