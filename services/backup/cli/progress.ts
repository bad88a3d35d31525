import type { WorkProgress } from '@taskmesh/internal-api';
import { bytesText } from './format.ts';

export interface ProgressView {
  show(progress: WorkProgress): void;
  end(): void;
}

export interface Terminal {
  isTTY?: boolean;
  columns?: number;
  write(text: string): unknown;
}

const LABELS: Record<string, string> = {
  dump: 'reading',
  compress: 'compressing',
  extract: 'extracting',
  load: 'loading',
  check: 'checking',
  compare: 'comparing',
  swap: 'swapping',
  scan: 'scanning',
  decrypt: 'decrypting',
  upload: 'sending',
  download: 'receiving',
};

const BAR_WIDTH = 24;
const CLEAR_LINE = '\r\u001b[2K';

/** A bar on a terminal; otherwise one line per step. */
export function createProgressView(out: Terminal): ProgressView {
  return out.isTTY ? barView(out) : lineView(out);
}

function barView(out: Terminal): ProgressView {
  return {
    show(progress) {
      out.write(`${CLEAR_LINE}${barOf(progress).slice(0, (out.columns ?? 80) - 1)}`);
    },
    end: () => void out.write(CLEAR_LINE),
  };
}

function lineView(out: Terminal): ProgressView {
  let shown = '';
  return {
    show(progress) {
      const title = titleOf(progress);
      if (title !== shown) out.write(`${title} …\n`);
      shown = title;
    },
    end: () => undefined,
  };
}

const titleOf = ({ phase, store }: WorkProgress) => [LABELS[phase] ?? phase, store].filter(Boolean).join(' ');

function barOf(progress: WorkProgress): string {
  const { doneBytes = 0, totalBytes } = progress;
  const title = titleOf(progress).padEnd(18);
  const amount = doneBytes > 0 ? bytesText(doneBytes) : '';
  if (!totalBytes) return `${title} ${amount}`;
  const share = Math.min(1, doneBytes / totalBytes);
  const filled = Math.round(share * BAR_WIDTH);
  const percent = `${Math.floor(share * 100)} %`.padStart(5);
  return `${title} [${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}] ${percent}  ${amount}`;
}
