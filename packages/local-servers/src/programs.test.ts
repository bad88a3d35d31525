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

describe('a program', () => {
  it('is the system’s own if there is one', async () => {
    const { sources, installed } = machine(['/usr/bin/redis-server', '/opt/bin/google-chrome'], {});
    expect(await provide(sources)).toBe('/opt/bin/google-chrome');
    expect(installed).toEqual([]);
  });

  it('is installed from Debian’s package where possible', async () => {
    const { sources, installed } = machine([], { chromium: '/usr/bin/chromium' });
    expect(await provide(sources)).toBe('/usr/bin/chromium');
    expect(installed).toEqual(['chromium']);
  });

  it.each([
    ['nothing can be installed', machine([])],
    ['the package does not contain it', machine([], {})],
  ])('names what to install when %s', async (_, { sources }) => {
    await expect(provide(sources)).rejects.toThrow('Install it.');
  });
});
