{{/*
What each service is, once for all templates: `servers` that it uses (with postgresql it has a store, whose migrations run before
it), and the services that it `calls`, whose addresses it is given and which let it in. Settings and resources are in values.yaml.
*/}}
{{- define "taskmesh.services" -}}
- name: gateway
  servers: [redis, kafka, otlp, subgraphs]
  calls: [auth, tasks, backup]
- name: auth
  servers: [postgresql, redis, otlp]
  calls: []
- name: tasks
  servers: [postgresql, kafka, otlp]
  calls: [auth]
- name: backup
  servers: [postgresql, otlp]
  calls: [auth, tasks]
{{- end }}

{{/* One of them as JSON; `all` is what one process of them all has outside it. Takes the name. */}}
{{- define "taskmesh.service" -}}
{{- $found := dict "name" "all" "servers" (list "otlp" "subgraphs") "calls" list -}}
{{- $name := . -}}
{{- range include "taskmesh.services" "" | fromYamlArray }}{{ if eq .name $name }}{{ $found = . }}{{ end }}{{ end -}}
{{- toJson $found -}}
{{- end }}

{{/* Names as JSON: of all services, or of those with this among their `servers` or `calls`. Takes (list [list name]). */}}
{{- define "taskmesh.serviceNames" -}}
{{- $asked := . -}}
{{- $names := list -}}
{{- range include "taskmesh.services" "" | fromYamlArray }}
{{- $isMeant := true }}
{{- if $asked }}{{ $isMeant = has (index $asked 1) (index . (index $asked 0)) }}{{ end }}
{{- if $isMeant }}{{ $names = append $names .name }}{{ end }}
{{- end -}}
{{- toJson $names -}}
{{- end }}
