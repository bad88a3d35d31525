import type { Trace } from './trace-store.ts';

const SHOWN = 50;
/** What is deeper stands no further to the right. */
const DEEPEST = 16;

export const STYLE = `
body { font: 14px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; color: #222; background: #fff }
nav a { margin-right: 1rem } table { border-collapse: collapse; width: 100% } td, th { text-align: left; padding: .2rem .6rem; vertical-align: top }
tr:nth-child(even) { background: #f5f5f7 } .number { text-align: right; white-space: nowrap } .error { color: #b00020 } code, pre { font-size: 12px; white-space: pre-wrap }
svg { display: block; width: 16rem; height: 1rem } svg rect { fill: #4a7dbd } small { color: #666 }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #16181c } tr:nth-child(even) { background: #1f2228 } a { color: #8ab4f8 } small { color: #999 } .error { color: #ff8a80 } }
${Array.from({ length: DEEPEST }, (_, index) => `td.below-${index + 1} { padding-left: ${index + 1.6}rem }`).join('\n')}
`;

export function tracesPage(traces: Trace[]): string {
  const slowest = traces.toSorted((one, other) => other.durationMs - one.durationMs);
  const body = traces.length === 0 ? '<p>None yet: do something, and load this page again.</p>' : '';
  return page('Traces', `${body}<h2>Latest</h2>${traceTable(traces)}<h2>Slowest</h2>${traceTable(slowest)}`);
}

export function tracePage(trace: Trace): string {
  const rows = trace.rows.map(({ span, depth }) => {
    const left = ((span.startMs - trace.startMs) / (trace.durationMs || 1)) * 100;
    const width = Math.max(((span.endMs - span.startMs) / (trace.durationMs || 1)) * 100, 0.5);
    return `<tr><td class="below-${Math.min(depth, DEEPEST)}"><span class="${span.isError ? 'error' : ''}">${text(span.name)}</span>
      <br><small>${text(span.service)}</small></td>
      <td class="number">${milliseconds(span.endMs - span.startMs)}</td>
      <td><svg viewBox="0 0 100 6" preserveAspectRatio="none"><rect x="${left.toFixed(2)}" width="${width.toFixed(2)}" height="6"/></svg></td>
      <td><code>${Object.entries(span.attributes)
        .map(([name, value]) => `${text(name)}=${text(typeof value === 'string' ? value : JSON.stringify(value))}`)
        .join('<br>')}</code></td></tr>`;
  });
  const head = '<tr><th>span</th><th class="number">took</th><th>when</th><th>attributes</th></tr>';
  return page(trace.name, `<p><code>${text(trace.traceId)}</code></p><table>${head}${rows.join('')}</table>`);
}

/** What each process says at its admin port, or why it does not. */
export function metricsPage(scraped: [name: string, metrics: string][]): string {
  const parts = scraped.map(
    ([name, metrics]) =>
      `<details><summary>${text(name)}</summary><pre>${text(metrics.replaceAll(/^#.*\n/gm, ''))}</pre></details>`,
  );
  return page('Metrics', parts.join(''));
}

export const notFoundPage = () => page('Not here', '<p>There is no such page, or the trace was forgotten.</p>');

function traceTable(traces: Trace[]): string {
  const rows = traces.slice(0, SHOWN).map(
    ({ traceId, name, startMs, durationMs, hasError, rows: { length } }) =>
      `<tr><td>${text(new Date(startMs).toISOString().slice(11, 23))}</td>
      <td><a class="${hasError ? 'error' : ''}" href="/traces/${text(traceId)}">${text(name)}</a></td>
      <td class="number">${milliseconds(durationMs)}</td><td class="number">${length}</td></tr>`,
  );
  return `<table><tr><th>at</th><th>trace</th><th class="number">took</th><th class="number">spans</th></tr>${rows.join('')}</table>`;
}

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${text(title)} · Taskmesh</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="stylesheet" href="/style.css"></head>
<body><nav><a href="/">Traces</a><a href="/metrics">Metrics</a></nav><h1>${text(title)}</h1>${body}
<p><small>A developer's tool: it keeps the last traces in memory and forgets them when the stack stops.</small></p></body></html>`;
}

const milliseconds = (value: number) => `${value.toFixed(2)} ms`;

const SPECIAL: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const text = (value: string) => value.replaceAll(/[&<>"']/g, (character) => SPECIAL[character] ?? '');
