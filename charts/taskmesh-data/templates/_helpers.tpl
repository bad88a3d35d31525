{{/* The services with a store, between commas. */}}
{{- define "data.stores" -}}
auth,tasks,backup
{{- end }}

{{- define "data.fullname" -}}
{{ default .Release.Name .Values.fullnameOverride }}
{{- end }}

{{/* takes (list root component) */}}
{{- define "data.selector" -}}
app.kubernetes.io/name: taskmesh-data
app.kubernetes.io/instance: {{ (index . 0).Release.Name | quote }}
app.kubernetes.io/component: {{ index . 1 | quote }}
{{- end }}

{{/* The chart's own: no one else may set them. Takes (list root component). */}}
{{- define "data.ownLabels" -}}
{{- $root := index . 0 -}}
{{ include "data.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | replace "+" "_" | quote }}
app.kubernetes.io/part-of: taskmesh
app.kubernetes.io/managed-by: {{ $root.Release.Service | quote }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" | quote }}
{{- end }}

{{/* takes (list root suffix component [lasting [labels]]); what is lasting stays when the release goes */}}
{{- define "data.metadata" -}}
{{- $root := index . 0 -}}
{{- $isLasting := false -}}
{{- $more := dict -}}
{{- if gt (len .) 3 }}{{ $isLasting = index . 3 }}{{ end -}}
{{- if gt (len .) 4 }}{{ $more = index . 4 }}{{ end -}}
name: {{ printf "%s%s" (include "data.fullname" $root) (ternary "" (printf "-%s" (index . 1)) (eq (index . 1) "")) | quote }}
namespace: {{ $root.Release.Namespace | quote }}
labels:
  {{- toYaml (merge (include "data.ownLabels" (list $root (index . 2)) | fromYaml) $more $root.Values.commonLabels) | nindent 2 }}
{{- if and $isLasting $root.Values.keepData }}
annotations:
  helm.sh/resource-policy: keep
  argocd.argoproj.io/sync-options: Prune=false,Delete=false
{{- end }}
{{- end }}

{{/* A container that keeps to the restricted standard. */}}
{{- define "data.containerSecurity" -}}
allowPrivilegeEscalation: false
runAsNonRoot: true
seccompProfile: { type: RuntimeDefault }
capabilities: { drop: [ALL] }
{{- end }}

{{/* A quantity as a number: 1Ki as 1024, 500m as a half. */}}
{{- define "data.amount" -}}
{{- $text := toString . -}}
{{- $unit := regexFind "[A-Za-z]+$" $text -}}
{{- $factors := dict "" 1 "m" 0.001 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 -}}
{{- mulf (trimSuffix $unit $text | float64) (index $factors $unit) -}}
{{- end }}
