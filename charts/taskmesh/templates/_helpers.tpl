{{- define "taskmesh.name" -}}
{{ default .Chart.Name .Values.nameOverride | trunc 38 | trimSuffix "-" }}
{{- end }}

{{/* Room is left for the longest suffix. */}}
{{- define "taskmesh.fullname" -}}
{{- $name := include "taskmesh.name" . -}}
{{- if .Values.fullnameOverride }}{{ .Values.fullnameOverride | trunc 38 | trimSuffix "-" }}
{{- else if contains $name .Release.Name }}{{ .Release.Name | trunc 38 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name $name | trunc 38 | trimSuffix "-" }}{{ end }}
{{- end }}

{{/* What selects a component's pods; takes (list root component). Without a component: all of the release. */}}
{{- define "taskmesh.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ include "taskmesh.name" $root }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
{{- if gt (len .) 1 }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}
{{- end }}

{{- define "taskmesh.labels" -}}
{{- $root := index . 0 -}}
{{ include "taskmesh.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: taskmesh
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" }}
{{- with $root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* takes (list root suffix component [annotations [labels]]) */}}
{{- define "taskmesh.metadata" -}}
{{- $root := index . 0 -}}
{{- $annotations := dict -}}
{{- $labels := dict -}}
{{- if gt (len .) 3 }}{{ $annotations = index . 3 }}{{ end -}}
{{- if gt (len .) 4 }}{{ $labels = index . 4 }}{{ end -}}
name: {{ include "taskmesh.fullname" $root }}{{ with index . 1 }}-{{ . }}{{ end }}
namespace: {{ $root.Release.Namespace }}
labels:
  {{- include "taskmesh.labels" (list $root (index . 2)) | nindent 2 }}
  {{- with $labels }}{{ toYaml . | nindent 2 }}{{ end }}
{{- with merge (dict) $annotations $root.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "taskmesh.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}{{ with .tag }}:{{ . }}{{ end }}@{{ .digest }}{{ else }}:{{ .tag | default (printf "%s%s" $.Chart.AppVersion (ternary "-all" "" (eq $.Values.mode "allInOne"))) }}{{ end }}
{{- end }}
{{- end }}

{{/* The services of this mode, between commas. */}}
{{- define "taskmesh.components" -}}
{{ ternary "all" "gateway,auth,tasks,backup" (eq .Values.mode "allInOne") }}
{{- end }}

{{/* A component's values, with what `pod` says in its place: (list root component) as JSON. */}}
{{- define "taskmesh.component" -}}
{{- $root := index . 0 -}}
{{- $own := index $root.Values (ternary "allInOne" (index . 1) (eq (index . 1) "all")) -}}
{{- $pod := deepCopy $root.Values.pod -}}
{{- range $key, $value := $own.pod }}{{ $_ := set $pod $key $value }}{{ end -}}
{{- $component := set (deepCopy $own) "pod" $pod -}}
{{- $isScaled := ne (dig "autoscaling" "mode" "none" $component) "none" -}}
{{- $_ := set $component "isScaled" $isScaled -}}
{{- $_ = set $component "least" (ternary (dig "autoscaling" "minReplicas" 1 $component) (dig "replicas" 1 $component) $isScaled | int) -}}
{{- toJson $component -}}
{{- end }}

{{/* A number of bytes as Mi; takes a quantity of memory. */}}
{{- define "taskmesh.mebibytes" -}}
{{- $text := toString . -}}
{{- if hasSuffix "Gi" $text }}{{ mulf 1024 (trimSuffix "Gi" $text | float64) | int }}
{{- else if hasSuffix "Mi" $text }}{{ trimSuffix "Mi" $text | int }}
{{- else if hasSuffix "G" $text }}{{ mulf 953.67 (trimSuffix "G" $text | float64) | int }}
{{- else if hasSuffix "M" $text }}{{ mulf 0.95367 (trimSuffix "M" $text | float64) | int }}
{{- else }}{{ fail (printf "resources.limits.memory is %q: write it in Mi or Gi, such as 512Mi" $text) }}{{ end }}
{{- end }}

{{- define "taskmesh.publicUrl" -}}
{{- with .Values }}
{{- if .settings.PUBLIC_URL }}{{ .settings.PUBLIC_URL }}
{{- else if and .httpRoute.enabled .httpRoute.hostnames }}https://{{ first .httpRoute.hostnames }}
{{- else if and .ingress.enabled .ingress.hosts }}{{ ternary "https" "http" (ne .ingress.tlsSecret "") }}://{{ first .ingress.hosts }}
{{- end }}
{{- end }}
{{- end }}

{{- define "taskmesh.serviceUrl" -}}
http://{{ include "taskmesh.fullname" (index . 0) }}-{{ index . 1 }}:4000
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
