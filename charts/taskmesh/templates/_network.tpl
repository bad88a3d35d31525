{{/* Where names are resolved; takes the root. */}}
{{- define "taskmesh.egressToNames" -}}
- to:
    {{- toYaml .Values.networkPolicy.dns | nindent 4 }}
  ports:
  {{- range .Values.networkPolicy.dnsPorts }}
    - { protocol: UDP, port: {{ . }} }
    - { protocol: TCP, port: {{ . }} }
  {{- end }}
{{- end }}

{{/* takes (list root name) of `networkPolicy.egress` */}}
{{- define "taskmesh.egressTo" -}}
{{- $values := (index . 0).Values -}}
{{- $rule := index $values.networkPolicy.egress (index . 1) -}}
{{- $ports := $rule.ports -}}
{{- $urls := list -}}
{{- if and (eq (index . 1) "otlp") (not $ports) }}{{ $urls = list $values.telemetry.endpoint }}{{ end }}
{{- if eq (index . 1) "oidc" }}{{ $urls = list $values.auth.settings.OIDC_ISSUER }}{{ end }}
{{- if eq (index . 1) "kafka" }}{{ range $values.kafka.brokers }}{{ $urls = append $urls (printf "kafka://%s" .) }}{{ end }}{{ end }}
{{- range compact $urls }}
{{- $url := urlParse . }}
{{- $ports = append $ports (regexFind ":[0-9]+$" $url.host | trimPrefix ":" | default (ternary "443" "80" (eq $url.scheme "https"))) }}
{{- end }}
{{- if $ports }}
- ports:
  {{- range $ports | toStrings | uniq }}
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
