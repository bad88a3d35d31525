{{/* takes (list root name) of `networkPolicy.egress` */}}
{{- define "taskmesh.egressTo" -}}
{{- $rule := index (index . 0).Values.networkPolicy.egress (index . 1) -}}
{{- if $rule.ports }}
- ports:
  {{- range $rule.ports }}
    - { protocol: TCP, port: {{ . }} }
  {{- end }}
  {{- with $rule.to }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- end }}

{{/* To or from pods of the release: (list root direction components port) */}}
{{- define "taskmesh.peers" -}}
{{- $root := index . 0 -}}
- {{ index . 1 }}:
  {{- range index . 2 }}
    - podSelector:
        matchLabels:
          {{- include "taskmesh.selector" (list $root .) | nindent 10 }}
  {{- end }}
  ports: [{ protocol: TCP, port: {{ index . 3 }} }]
{{- end }}
