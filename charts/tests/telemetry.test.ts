import { render, renderText, type RenderOptions } from './support/helm.ts';
import { containerOf, envOf, SERVICES } from './containers.ts';

const traced = (set: Record<string, unknown> = {}): RenderOptions => ({
  set: { 'telemetry.endpoint': 'http://otel.monitoring:4318', ...set },
});

describe('telemetry', () => {
  it('is off without an endpoint', async () => {
    expect(await renderText()).not.toMatch(/OTEL_|POD_NAME|TRACE_/);
  });

  it.each(SERVICES)('makes %s record one of a hundred traces with the name of the pod', async (name) => {
    expect(envOf(await containerOf(name, traced()))).toMatchObject({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://otel.monitoring:4318',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.01',
      TRACE_CALLERS_PER_S: '10',
      OTEL_RESOURCE_ATTRIBUTES: 'k8s.namespace.name=prod,k8s.pod.name=$(POD_NAME)',
    });
  });

  it('defines the pod before its use, and accepts more attributes and the headers of a secret', async () => {
    const options = traced({
      'telemetry.headers.existingSecret': 'collector',
      'telemetry.resourceAttributes': { team: 'tasks' },
    });
    const { env = [] } = await containerOf('tasks', options);
    const names = env.map(({ name }) => name);
    expect(names.indexOf('POD_NAME')).toBeLessThan(names.indexOf('OTEL_RESOURCE_ATTRIBUTES'));
    expect(envOf({ env } as never)).toMatchObject({
      OTEL_EXPORTER_OTLP_HEADERS: 'collector/otlp-headers',
      OTEL_RESOURCE_ATTRIBUTES: expect.stringMatching(/,team=tasks$/),
    });
  });

  it.each([
    ['http://otel.monitoring:4318', 4318],
    ['http://otel.monitoring', 80],
    ['https://collector.example.com/otlp', 443],
  ])('allows every service, and no job, to reach the port of %s', async (endpoint, port) => {
    const policies = (await render({ set: { 'telemetry.endpoint': endpoint } })).filter(
      ({ kind, spec }) =>
        kind === 'NetworkPolicy' &&
        (spec?.egress ?? []).some(({ ports = [] }) => ports.some((each) => each.port === port)),
    );
    const known = port === 443 ? ['keys', 'preflight', ...SERVICES] : SERVICES;
    const components = policies.map(({ metadata }) => metadata.labels?.['app.kubernetes.io/component'] ?? '');
    expect(known).toEqual(expect.arrayContaining(components));
    expect(components).toEqual(expect.arrayContaining(SERVICES));
  });

  it('is sent where the network policy allows when that is more specific', async () => {
    const text = await renderText(traced({ 'networkPolicy.egress.otlp.ports': [7777] }));
    expect(text).toContain('port: 7777');
    expect(text).not.toContain('port: 4318');
  });
});
