import { Section } from '../../elements/view.tsx';
import { Ago } from '../../elements/times.tsx';
import type { ServiceStatus } from '../api/types.ts';
import { Fact } from './facts.tsx';
import { Mark } from './mark.tsx';

export function ServicesCard({ services }: { services: ServiceStatus[] }) {
  return (
    <Section title="Services">
      <div class="scroll" role="region" aria-label="Services, a table" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">Service</th>
              <th scope="col">State</th>
              <th scope="col">Version</th>
              <th scope="col">Running since</th>
              <th scope="col">Database</th>
            </tr>
          </thead>
          <tbody>
            {services.map((service) => (
              <Row key={service.name} service={service} />
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}

function Row({ service: { name, isUp, version, startedAt, store } }: { service: ServiceStatus }) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>
        <Mark isGood={isUp}>{isUp ? 'Up' : 'Down'}</Mark>
      </td>
      <td data-label="Version">
        <Fact value={version ?? undefined} />
      </td>
      <td data-label="Running since">
        <Fact value={startedAt ? <Ago at={startedAt} /> : undefined} />
      </td>
      <td data-label="Database">
        <Fact value={store ? <Store store={store} /> : isUp ? null : undefined} />
      </td>
    </tr>
  );
}

function Store({ store: { isUp, schema, missing, unknown } }: { store: NonNullable<ServiceStatus['store']> }) {
  if (!isUp) return <Mark isGood={false}>Does not answer</Mark>;
  if (missing.length > 0) return <Mark isGood={false}>Missing: {missing.join(', ')}</Mark>;
  if (unknown.length > 0) return <Mark isGood={false}>Newer: {unknown.join(', ')}</Mark>;
  return <Fact value={schema && <code>{schema}</code>} />;
}
