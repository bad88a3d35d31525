{{- define "taskmesh.name" -}}
{{ regexReplaceAll "-+$" (default .Chart.Name .Values.nameOverride | trunc 38) "" }}
{{- end }}

{{/* Room is left for the longest suffix. */}}
{{- define "taskmesh.fullname" -}}
{{- $name := include "taskmesh.name" . -}}
{{- $full := .Values.fullnameOverride | default (ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name)) -}}
{{ regexReplaceAll "-+$" (trunc 38 $full) "" }}
{{- end }}

{{/* What selects a component's pods; takes (list root component). Without a component: all of the release. */}}
{{- define "taskmesh.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ include "taskmesh.name" $root | quote }}
app.kubernetes.io/instance: {{ $root.Release.Name | quote }}
{{- if gt (len .) 1 }}
app.kubernetes.io/component: {{ index . 1 | quote }}
{{- end }}
{{- end }}

{{/* The chart's own: no one else may set them. Takes (list root component). */}}
{{- define "taskmesh.ownLabels" -}}
{{- $root := index . 0 -}}
{{ include "taskmesh.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | replace "+" "_" | quote }}
app.kubernetes.io/part-of: taskmesh
app.kubernetes.io/managed-by: {{ $root.Release.Service | quote }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" | quote }}
{{- end }}

{{/* Each label once; takes (list root component [more]). */}}
{{- define "taskmesh.labels" -}}
{{- $root := index . 0 -}}
{{- $more := dict -}}
{{- if gt (len .) 2 }}{{ $more = index . 2 }}{{ end -}}
{{- toYaml (merge (include "taskmesh.ownLabels" (list $root (index . 1)) | fromYaml) $more $root.Values.commonLabels) -}}
{{- end }}

{{/* takes (list root suffix component [annotations [labels]]) */}}
{{- define "taskmesh.metadata" -}}
{{- $root := index . 0 -}}
{{- $annotations := dict -}}
{{- $labels := dict -}}
{{- if gt (len .) 3 }}{{ $annotations = index . 3 }}{{ end -}}
{{- if gt (len .) 4 }}{{ $labels = index . 4 }}{{ end -}}
name: {{ include "taskmesh.named" (list $root (index . 1)) | quote }}
namespace: {{ $root.Release.Namespace | quote }}
labels:
  {{- include "taskmesh.labels" (list $root (index . 2) $labels) | nindent 2 }}
{{- with merge (dict) $annotations $root.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* An object's name; takes (list root suffix). */}}
{{- define "taskmesh.named" -}}
{{ include "taskmesh.fullname" (index . 0) }}{{ with index . 1 }}-{{ . }}{{ end }}
{{- end }}

{{- define "taskmesh.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}{{ with .tag }}:{{ . }}{{ end }}@{{ .digest }}{{ else }}:{{ .tag | default (printf "%s%s" $.Chart.AppVersion (ternary "-all" "" (eq $.Values.mode "allInOne"))) }}{{ end }}
{{- end }}
{{- end }}

{{/* The services of this mode, between commas. */}}
{{- define "taskmesh.components" -}}
{{ ternary "all" (include "taskmesh.serviceNames" list | fromJsonArray | join ",") (eq .Values.mode "allInOne") }}
{{- end }}

{{/* `pod`, with what a part of the release says in its place: (list root pod) as JSON. */}}
{{- define "taskmesh.podOf" -}}
{{- $pod := deepCopy (index . 0).Values.pod -}}
{{- range $key, $value := index . 1 }}{{ $_ := set $pod $key $value }}{{ end -}}
{{- toJson $pod -}}
{{- end }}

{{/* A component's values, with what `pod` says in its place: (list root component) as JSON. */}}
{{- define "taskmesh.component" -}}
{{- $root := index . 0 -}}
{{- $own := index $root.Values (ternary "allInOne" (index . 1) (eq (index . 1) "all")) -}}
{{- $component := set (deepCopy $own) "pod" (include "taskmesh.podOf" (list $root $own.pod) | fromJson) -}}
{{- $isScaled := ne (dig "autoscaling" "mode" "none" $component) "none" -}}
{{- $_ := set $component "isScaled" $isScaled -}}
{{- $_ = set $component "least" (ternary (dig "autoscaling" "minReplicas" 1 $component) (dig "replicas" 1 $component) $isScaled | int) -}}
{{- toJson $component -}}
{{- end }}

{{/* A quantity as a number: 1Ki as 1024, 500m as a half. */}}
{{- define "taskmesh.amount" -}}
{{- $text := toString . -}}
{{- $unit := regexFind "[A-Za-z]+$" $text -}}
{{- $factors := dict "" 1 "m" 0.001 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 -}}
{{- mulf (trimSuffix $unit $text | float64) (index $factors $unit) -}}
{{- end }}

{{/* A number of bytes as Mi; takes a quantity of memory. */}}
{{- define "taskmesh.mebibytes" -}}
{{- divf (include "taskmesh.amount" .) 1048576 | int64 -}}
{{- end }}

{{/* What is said, or the first host that is no wildcard and has TLS. An Ingress may have it by other means than a secret. */}}
{{- define "taskmesh.publicUrl" -}}
{{- with .Values -}}
{{- $found := "" -}}
{{- range concat (ternary .httpRoute.hostnames list .httpRoute.enabled) (ternary .ingress.hosts list (and .ingress.enabled (ne .ingress.tlsSecret ""))) }}
{{- if not (or $found (contains "*" .)) }}{{ $found = printf "https://%s" . }}{{ end }}
{{- end -}}
{{ .settings.PUBLIC_URL | default $found }}
{{- end }}
{{- end }}

{{- define "taskmesh.serviceUrl" -}}
http://{{ include "taskmesh.named" . }}:4000
{{- end }}

{{/* Seconds a pod has from the end of its traffic to its end. */}}
{{- define "taskmesh.grace" -}}
{{ add .preStopSeconds .stopSeconds }}
{{- end }}

{{/* Annotations of an object that helm makes beside the release; takes (list events weight). */}}
{{- define "taskmesh.hook" -}}
helm.sh/hook: {{ index . 0 }}
helm.sh/hook-weight: {{ index . 1 | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end }}
