import { IMAGE } from './images.ts';

/** The pod settings that the restricted standard requires. */
export const restricted = {
  securityContext: {
    runAsNonRoot: true,
    runAsUser: 10_001,
    runAsGroup: 10_001,
    fsGroup: 10_001,
    seccompProfile: { type: 'RuntimeDefault' },
  },
  automountServiceAccountToken: false,
  enableServiceLinks: false,
};

export const confined = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

/** Idles until SIGTERM. */
const IDLE = ['node', '-e', "process.on('SIGTERM', () => process.exit()); setInterval(() => {}, 60_000)"];

interface PodOptions {
  name: string;
  namespace: string;
  labels: Record<string, string>;
  /** @default IDLE */
  command?: string[];
  container?: object;
}

/** A pod of the product's image. */
export const pod = ({ name, namespace, labels, command = IDLE, container = {} }: PodOptions) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace, labels },
  spec: {
    terminationGracePeriodSeconds: 1,
    ...restricted,
    containers: [{ name: 'main', image: IMAGE, command, securityContext: confined, ...container }],
  },
});
