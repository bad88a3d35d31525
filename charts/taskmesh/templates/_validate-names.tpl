{{/* Names and labels that no server takes, or that are the chart's own: sentences as JSON. */}}
{{- define "taskmesh.nameProblems" -}}
{{- $problems := list -}}
{{- $v := .Values -}}
{{- $full := include "taskmesh.fullname" . -}}
{{- if not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" $full) }}
{{- $problems = append $problems (printf "the objects' names would begin with %q, which no Service may have: set fullnameOverride to a-z, 0-9 and -, beginning with a letter, such as taskmesh" $full) }}
{{- end }}
{{- $name := include "taskmesh.name" . }}
{{- if not (regexMatch "^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$" $name) }}
{{- $problems = append $problems (printf "nameOverride is %q, which no label may be: use a-z, 0-9 and -" $name) }}
{{- end }}
{{- $own := include "taskmesh.ownLabels" (list . "any") | fromYaml }}
{{- $said := dict "commonLabels" $v.commonLabels "pod.labels" $v.pod.labels "serviceMonitor.labels" $v.serviceMonitor.labels "prometheusRule.labels" $v.prometheusRule.labels "dashboards.labels" $v.dashboards.labels }}
{{- range $part := concat (include "taskmesh.serviceNames" list | fromJsonArray) (list "allInOne" "jobs") }}
{{- with (index $v $part).pod.labels }}{{ $_ := set $said (printf "%s.pod.labels" $part) . }}{{ end }}
{{- end }}
{{- range $path, $labels := $said }}
{{- range $label, $_ := $labels }}
{{- if hasKey $own $label }}
{{- $problems = append $problems (printf "%s has %s, which is the chart's own: remove it there" $path $label) }}
{{- end }}
{{- end }}
{{- end }}
{{- toJson $problems -}}
{{- end }}
