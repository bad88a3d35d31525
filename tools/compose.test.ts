import { makeTempDir } from '@taskmesh/testing';
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { parse } from 'yaml';

const ROOT = new URL('..', import.meta.url).pathname;
const STORES = globSync('*/migrations/main.ts', { cwd: `${ROOT}services` }).map((file) => file.split('/')[0] ?? '');

interface ComposeService {
  image: string;
  profiles: string[];
  command?: string[];
  environment?: Record<string, string>;
  ports?: string[];
  secrets?: string[];
  volumes?: string[];
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test: string[] };
  read_only?: boolean;
  cap_drop?: string[];
  cap_add?: string[];
  security_opt?: string[];
  restart?: string;
  stop_grace_period?: string;
  deploy?: { resources: { limits: { cpus?: string; memory: string } } };
}

const compose = parse(readFileSync(`${ROOT}deploy/compose.yaml`, 'utf8'), { merge: true }) as {
  services: Record<string, ComposeService>;
  secrets: object;
  volumes: object;
};
const services = Object.entries(compose.services);
const ours = services.filter(([, { image }]) => image.startsWith('${TASKMESH_IMAGE'));
const textOf = (file: string) => readFileSync(`${ROOT}${file}`, 'utf8');
/** Each setting with its default. */
const settings = parseEnv(textOf('.env.example'));
const image = textOf('deploy/image/main.ts');
const isOnce = ({ restart }: ComposeService) => restart === 'no';

describe('deploy/compose.yaml', () => {
  it('has a profile with everything in one container, and one with a container for each part, and defines all that they use', () => {
    const named = (profile: string) =>
      services.filter(([, { profiles }]) => profiles.includes(profile)).map(([name]) => name);
    expect(named('trial')).toEqual(['trial']);
    expect(named('cluster')).toEqual(expect.arrayContaining(readdirSync(`${ROOT}services`)));
    expect(services.every(([, { profiles }]) => profiles.length === 1)).toBe(true);
    // For traces, on this machine only.
    const ports = ['127.0.0.1:${TRACES_PORT:-16686}:16686'];
    expect(compose.services.traces).toMatchObject({ profiles: ['traces'], ports });
    for (const [, { secrets = [], volumes = [] }] of services) {
      for (const secret of secrets) expect(compose.secrets).toHaveProperty(secret);
      for (const volume of volumes)
        if (!volume.startsWith('.')) expect(compose.volumes).toHaveProperty(volume.split(':')[0] ?? '');
    }
  });

  it('runs only parts that the image contains', () => {
    for (const [name, { command = [] }] of ours) {
      const [part = '', store] = command;
      const folder = store !== undefined && part === 'migrate' ? `${store}/migrations` : `${part}/src`;
      const isThere = existsSync(`${ROOT}services/${folder}/main.ts`) || image.includes(`['${part}', `);
      expect([name, isThere]).toEqual([name, true]);
    }
  });

  it('sets only settings in .env.example, and secrets through files', () => {
    for (const [name, { environment = {}, secrets = [] }] of ours)
      for (const [variable, value] of Object.entries(environment)) {
        const isSecretFile = value.startsWith('/run/secrets/');
        const setting = isSecretFile ? variable.replace(/_FILE$/, '') : variable;
        expect([name, variable, setting in settings]).toEqual([name, variable, true]);
        expect([name, variable, /(TOKEN|PASSWORD)$|postgres:\/\//.test(`${variable} ${value}`)]).toEqual([name, variable, false]); // prettier-ignore
        if (!isSecretFile) continue;
        expect(image).toContain(`'${setting}'`);
        expect(secrets).toContain(value.slice('/run/secrets/'.length));
      }
    // Operators have a configured or generated token, and PostgreSQL creates the databases with the password of every store.
    const { trial, gateway, postgres } = compose.services;
    expect(trial?.environment?.BACKUP_TOKEN).toBe('${BACKUP_TOKEN:-}');
    expect(gateway?.environment?.BACKUP_TOKEN_FILE).toBe('/run/secrets/backup_token');
    const passwords = ['postgres', ...STORES].map((name) => `${name}_password`);
    expect(postgres?.secrets?.toSorted()).toEqual(passwords.toSorted());
  });

  it('passes on NEWER_SCHEMA to the trial, and the service and the migration of every store', () => {
    const set = services.filter(([, { environment }]) => environment?.NEWER_SCHEMA === '${NEWER_SCHEMA:-refuse}');
    const wanted = STORES.flatMap((name) => [name, `migrate-${name}`]);
    expect(set.map(([name]) => name).toSorted()).toEqual([...wanted, 'trial'].toSorted());
    const backups = ({ environment = {} }: ComposeService) =>
      Object.entries(environment).filter(([name]) => /^BACKUP_(SCHEDULE|KEEP|MAIL_TO)$/.test(name));
    const { trial, backup } = compose.services;
    expect(trial && backups(trial)).toEqual(backup && backups(backup));
  });

  it('passes on the settings for traces, or their defaults, to every service', () => {
    const tracing = ({ environment = {} }: ComposeService) =>
      Object.entries(environment).filter(([name]) => /^(OTEL|TRACE)_/.test(name));
    for (const [name, service] of ours.filter(([, each]) => each.healthcheck)) {
      expect([name, tracing(service).length]).toEqual([name, 7]);
      for (const [variable, value] of tracing(service)) expect(value).toBe(`\${${variable}:-${settings[variable]}}`);
    }
  });

  it('reads exactly the variables listed in docs/deploy.md', () => {
    const read = new Set(
      [...textOf('deploy/compose.yaml').matchAll(/(?<!\$)\$\{([A-Z_]+)[:-]/g)].map(([, name]) => name),
    );
    const [, section = ''] = /^## Compose$([^]*?)^## /m.exec(textOf('docs/deploy.md')) ?? [];
    const [, list = ''] = /These variables are\s+read[^]*?:\n\n([^]*?)\n\n/.exec(section) ?? [];
    const named = new Set([...list.matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name));
    expect([...named].sort()).toEqual([...read].sort());
  });

  it('creates exactly the secrets that it uses, readable by containers from the first moment, and keeps existing ones', () => {
    const bin = makeTempDir();
    const dir = join(bin, 'secrets');
    writeFileSync(join(bin, 'chmod'), '#!/bin/sh\n', { mode: 0o755 }); // as if the script were killed before it changes the mode
    const env = { PATH: `${bin}:${process.env['PATH']}` };
    const make = () => execFileSync('sh', [`${ROOT}deploy/compose/make-secrets.sh`, dir], { env });
    const made = () =>
      Object.fromEntries(readdirSync(dir).map((name) => [name, readFileSync(join(dir, name), 'utf8')]));
    make();
    const first = made();
    expect(Object.keys(first).toSorted()).toEqual(Object.keys(compose.secrets).toSorted());
    expect(first.tasks_postgres_url).toBe(`postgres://tasks:${first.tasks_password}@postgres:5432/taskmesh_tasks`);
    make();
    expect(made()).toEqual(first);
    expect([dir, join(dir, 'redis_url')].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o644]);
  });

  it('agrees with the image on ports', () => {
    const [, port] = /\bPORT=(\d+)/.exec(textOf('Dockerfile')) ?? [];
    for (const [, { environment = {}, ports = [] }] of ours) {
      for (const published of ports) expect(published).toMatch(new RegExp(`^127\\.0\\.0\\.1:.*:${port}$`));
      for (const [variable, url] of Object.entries(environment))
        if (services.some(([name]) => `${name.toUpperCase()}_URL` === variable))
          expect(url).toBe(`http://${variable.slice(0, -4).toLowerCase()}:${port}`);
    }
  });

  it('has the same memory limit and the same time to stop for each part as the chart', () => {
    const values = parse(textOf('charts/taskmesh/values.yaml'));
    for (const [name, service] of ours.filter(([, each]) => !isOnce(each))) {
      const part = values[name === 'trial' ? 'allInOne' : name];
      const stopSeconds = part?.pod?.stopSeconds ?? values.pod?.stopSeconds;
      expect([name, service.stop_grace_period]).toEqual([name, `${stopSeconds}s`]);
      expect([name, `${service.deploy?.resources.limits.memory}i`]).toEqual([name, part.resources.limits.memory]);
    }
  });

  it('waits until dependencies are healthy or have completed', () => {
    for (const [name, { depends_on: needs = {} }] of services)
      for (const [needed, { condition }] of Object.entries(needs)) {
        const other = compose.services[needed];
        const wanted = other && isOnce(other) ? 'service_completed_successfully' : 'service_healthy';
        expect([name, needed, condition]).toEqual([name, needed, wanted]);
      }
  });

  it.each(services)('gives %s only the privileges that it needs', (name, service) => {
    expect(service.cap_drop).toEqual(['ALL']);
    expect(service.security_opt).toEqual(['no-new-privileges:true']);
    const { cpus = '1', memory } = service.deploy?.resources.limits ?? {};
    expect([cpus, memory]).toEqual(['1', expect.any(String)]); // Docker refuses more than a machine has
    expect(isOnce(service) || service.healthcheck !== undefined).toBe(true);
    if (name !== 'kafka') expect(service.read_only).toBe(true);
    if (ours.some(([each]) => each === name)) expect(service.cap_add).toBeUndefined();
  });
});
