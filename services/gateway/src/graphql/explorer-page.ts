import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** A page to try the graph with. It loads nothing, from no host, and its policy says so. */
export function explorerPage(): { html: string; headers: Record<string, string> } {
  const html = readFileSync(new URL('./explorer.html', import.meta.url), 'utf8');
  const policy = [
    "default-src 'none'",
    "connect-src 'self'",
    `script-src ${hashesOf(html, 'script')}`,
    `style-src ${hashesOf(html, 'style')}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    html,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy.join('; '),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    },
  };
}

function hashesOf(html: string, tag: 'script' | 'style'): string {
  const texts = [...html.matchAll(new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`, 'g'))].map((match) => match[1] ?? '');
  return texts.map((text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`).join(' ');
}
