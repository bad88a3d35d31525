import { INNER_SERVICES } from '@taskmesh/local';
import { readFile } from 'node:fs/promises';
import { eventually } from '@taskmesh/testing';

/** Metrics that exist only with `SUPERGRAPH_FILE`, or with a collector. */
const BY_SETTING = /^(taskmesh_gateway_supergraph|otel_sdk_exporter)_/;

/** The metrics of the admin ports after some work. */
export function describeMetrics(platform: () => { adminUrls: string[] }) {
  const shown = async () => {
    const texts = platform().adminUrls.map(async (url) => (await fetch(`${url}/metrics`)).text());
    return (await Promise.all(texts)).join('\n');
  };
  const namesIn = (text: string, pattern: RegExp) => new Set([...text.matchAll(pattern)].map(([, name = '']) => name));

  it('match the list in the guide for operators', async () => {
    const guide = await readFile(new URL('../../../docs/operations.md', import.meta.url), 'utf8');
    const listed = [...namesIn(guide, /^\| `([a-z]+(?:_[a-z]+)+)` \|/gm)].filter((name) => !BY_SETTING.test(name));
    const isOurs = (name: string) => !/^(nodejs|process)_/.test(name) && !BY_SETTING.test(name);
    expect([...namesIn(await shown(), /^# HELP (\S+)/gm)].filter(isOurs).sort()).toEqual(listed.sort());
  });

  it('report each service’s statements and pool, and the traffic to and from the event log', async () => {
    const seriesOf = (text: string, name: string, label: string) =>
      namesIn(text, new RegExp(`^${name}{[^}]*\\b${label}="([^"]*)"[^}]*} [1-9]`, 'gm'));
    await eventually(async () => {
      const text = await shown();
      for (const name of ['db_client_operation_duration_seconds_count', 'db_client_connection_count'])
        expect([...seriesOf(text, name, 'pool')].sort()).toEqual([...INNER_SERVICES].sort());
      for (const name of ['sent_messages_total', 'operation_duration_seconds_count', 'consumed_messages_total']) {
        const topics = seriesOf(text, `messaging_client_${name}`, 'messaging_destination_name');
        expect([...topics]).toEqual(['taskmesh.tasks.changes']);
      }
    });
  });
}
