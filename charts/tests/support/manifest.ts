/** Kubernetes objects as far as anybody here looks at them. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string>; annotations?: Record<string, string> };
  spec?: Spec;
  data?: Record<string, string>;
  rules?: { resources: string[]; verbs: string[] }[];
  automountServiceAccountToken?: boolean;
}

export interface Spec {
  replicas?: number;
  template?: PodTemplate;
  selector?: Selector;
  podSelector?: Selector;
  policyTypes?: string[];
  ingress?: PolicyRule[];
  egress?: PolicyRule[];
  metrics?: unknown[];
  triggers?: { type: string; metadata: Record<string, string> }[];
  groups?: { name: string; rules: AlertRule[] }[];
  [field: string]: unknown;
}

export interface Selector {
  matchLabels?: Record<string, string>;
}

export interface PolicyRule {
  from?: { podSelector?: Selector; namespaceSelector?: Selector }[];
  to?: { podSelector?: Selector; namespaceSelector?: Selector }[];
  ports?: { protocol: string; port: number | string }[];
}

export interface AlertRule {
  alert: string;
  expr: string;
  labels: Record<string, string>;
  annotations: { summary: string; runbook_url: string };
}

export interface PodTemplate {
  metadata: { labels: Record<string, string>; annotations?: Record<string, string> };
  spec: PodSpec;
}

export interface PodSpec {
  serviceAccountName?: string;
  automountServiceAccountToken?: boolean;
  terminationGracePeriodSeconds?: number;
  topologySpreadConstraints?: unknown[];
  securityContext?: Record<string, unknown>;
  containers: Container[];
  initContainers?: Container[];
  volumes?: Volume[];
}

export interface Container {
  name: string;
  image: string;
  args?: string[];
  env?: { name: string; value?: string; valueFrom?: { secretKeyRef?: { name: string; key: string } } }[];
  securityContext?: Record<string, unknown>;
  resources?: { requests?: Record<string, string>; limits?: Record<string, string> };
  volumeMounts?: { name: string; mountPath: string }[];
  lifecycle?: { preStop?: { sleep: { seconds: number } } };
}

export interface Volume {
  name: string;
  emptyDir?: object;
  projected?: {
    sources: { secret: { name: string; optional?: boolean; items: { key: string; path: string }[] } }[];
  };
}

/** Objects with a pod of their own, and not by an operator of their kind. */
export const workloads = (manifests: readonly Manifest[]) =>
  manifests.flatMap((each) => (each.spec?.template?.spec ? [{ ...each, template: each.spec.template }] : []));

/** Those that serve, without jobs. */
export const serving = (manifests: readonly Manifest[]) =>
  workloads(manifests).filter(({ kind }) => kind === 'Deployment');

export const containersOf = ({ spec }: PodTemplate) => [...(spec.initContainers ?? []), ...spec.containers];

export const isSelected = ({ matchLabels = {} }: Selector, labels: Record<string, string>) =>
  Object.entries(matchLabels).every(([name, value]) => labels[name] === value);

/** The annotations of what survives the removal of its release. */
export const KEPT = {
  'helm.sh/resource-policy': 'keep',
  'argocd.argoproj.io/sync-options': 'Prune=false,Delete=false',
};

export const ofKind = (manifests: Manifest[], kind: string) => manifests.filter((each) => each.kind === kind);
export const policiesOf = (manifests: Manifest[]) => ofKind(manifests, 'NetworkPolicy');
export const portsOf = ({ ports = [] }: PolicyRule) => ports.map(({ port }) => port);
