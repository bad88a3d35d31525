import { provideProgram, type Machine } from './programs.ts';

/** A machine with these programs, to which packages add others; records the installed packages. */
function machine(programs: string[], packages?: Record<string, string>) {
  const installed: string[] = [];
  const sources: Machine = {
    find: (...names) => programs.find((path) => names.some((name) => path.endsWith(`/${name}`))),
    canInstall: () => packages !== undefined,
    async install(names) {
      installed.push(...names);
      programs.push(...names.flatMap((name) => packages?.[name] ?? []));
    },
  };
  return { sources, installed };
}

const provide = (machine: Machine) =>
  provideProgram(
    ['chromium', 'google-chrome'],
    { package: 'chromium', log: () => undefined, remedy: 'Install it.' },
    machine,
  );

const REFUSAL: unknown = expect.stringContaining('Install it.');
it.each([
  ['is the system’s own', ['/usr/bin/redis-server', '/opt/bin/google-chrome'], {}, '/opt/bin/google-chrome', []],
  ['is installed from Debian’s package', [], { chromium: '/usr/bin/chromium' }, '/usr/bin/chromium', ['chromium']],
  ['is to be installed, when nothing can be', [], undefined, REFUSAL, []],
  ['is to be installed, when the package does not contain it', [], {}, REFUSAL, ['chromium']],
])('a program %s', async (_what, programs: string[], packages, expected, wanted) => {
  const { sources, installed } = machine(programs, packages);
  expect([await provide(sources).catch(String), installed]).toEqual([expected, wanted]);
});
