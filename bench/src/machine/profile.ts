import { globSync, mkdirSync, readFileSync } from 'node:fs';
import type { Profiler } from 'node:inspector';
import { sumOf } from '../run/figures.ts';

const ROOT = new URL('../../../', import.meta.url).href;
const SHOWN = 25;
const EVERY_US = 500;

/** Settings that make Node write a profile of each process, from its start to its end, into a directory. */
export function profileSettings(dir: string) {
  mkdirSync(dir, { recursive: true });
  return { NODE_OPTIONS: `--cpu-prof --cpu-prof-interval=${EVERY_US} --cpu-prof-dir=${dir}` };
}

/** Lists the most expensive packages and functions of each profile by self time. Node's and V8's time counts for the calling package. */
export function summariseProfiles(dir: string): string {
  const texts = globSync(`${dir}/*.cpuprofile`).map((file) => {
    const { packages, functions } = summarise(JSON.parse(readFileSync(file, 'utf8')));
    return [`\n${file}`, ...rows('by package', packages), ...rows('by function', functions)].join('\n');
  });
  return texts.join('\n');
}

function rows(title: string, times: ReadonlyMap<string, number>): string[] {
  const all = sumOf([...times.values()]);
  const shown = [...times].sort(([, one], [, other]) => other - one).slice(0, SHOWN);
  return [`  ${title}`, ...shown.map(([name, time]) => `  ${((time / all) * 100).toFixed(1).padStart(5)} %  ${name}`)];
}

/** Sums up the microseconds of each package and function, without idle time. */
function summarise({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile) {
  const own = new Map<number, number>();
  samples.forEach((id, index) => own.set(id, (own.get(id) ?? 0) + (timeDeltas[index] ?? 0)));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const [packages, functions] = [new Map<string, number>(), new Map<string, number>()];
  const visit = ({ id, callFrame, children = [] }: Profiler.ProfileNode, caller: string) => {
    const { functionName, url, lineNumber } = callFrame;
    const file = url.startsWith(ROOT) ? url.slice(ROOT.length) : '';
    const name = /^\((?:idle|program|garbage collector)\)$/.test(functionName)
      ? functionName
      : packageOf(file) || caller;
    const time = own.get(id) ?? 0;
    if (time > 0 && name !== '(idle)') {
      const place = `${file || url} ${functionName || `line ${lineNumber + 1}`}`;
      packages.set(name, (packages.get(name) ?? 0) + time);
      functions.set(place, (functions.get(place) ?? 0) + time);
    }
    for (const child of children.map((each) => byId.get(each))) if (child) visit(child, name);
  };
  if (nodes[0]) visit(nodes[0], '(node)');
  return { packages, functions };
}

/** `services/gateway/rest`, `@apollo/server` */
function packageOf(file: string): string {
  const [, external] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file) ?? [];
  if (external) return external;
  const [, project = '', folder] = /^((?:\w+\/[^/]+|bench))\/src\/(?:([^/]+)\/)?/.exec(file) ?? [];
  return folder ? `${project}/${folder}` : project;
}
