import { renderText, type RenderOptions } from './support/helm.ts';
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
});
