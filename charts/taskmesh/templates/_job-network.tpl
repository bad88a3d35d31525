{{/* What a job may reach, made before it when it is a hook: (list root component annotations rules). */}}
{{- define "taskmesh.jobNetwork" -}}
{{- $root := index . 0 -}}
{{- $policy := $root.Values.networkPolicy -}}
{{- if $policy.enabled }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  {{- include "taskmesh.metadata" (list $root (index . 1) (index . 1) (index . 2)) | nindent 2 }}
spec:
  podSelector:
    matchLabels:
      {{- include "taskmesh.selector" (list $root (index . 1)) | nindent 6 }}
  policyTypes: [Ingress, Egress]
  egress:
    - to:
        {{- toYaml $policy.dns | nindent 8 }}
      ports: [{ protocol: UDP, port: 53 }, { protocol: TCP, port: 53 }]
    {{- range index . 3 }}
    {{- . | trim | nindent 4 }}
    {{- end }}
{{- end }}
---
apiVersion: v1
kind: ServiceAccount
metadata:
  {{- include "taskmesh.metadata" (list $root (index . 1) (index . 1) (merge (dict) (index . 2) $root.Values.serviceAccount.annotations)) | nindent 2 }}
automountServiceAccountToken: false
{{- end }}
