{{- define "data.fullname" -}}
{{ default .Release.Name .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- end }}

{{/* takes (list root suffix component [keep [labels]]) */}}
{{- define "data.metadata" -}}
{{- $root := index . 0 -}}
name: {{ include "data.fullname" $root }}{{ with index . 1 }}-{{ . }}{{ end }}
namespace: {{ $root.Release.Namespace }}
labels:
  {{- include "data.selector" (list $root (index . 2)) | nindent 2 }}
  app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
  app.kubernetes.io/part-of: taskmesh
  app.kubernetes.io/managed-by: {{ $root.Release.Service }}
  helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" }}
  {{- with $root.Values.commonLabels }}{{ toYaml . | nindent 2 }}{{ end }}
  {{- if gt (len .) 4 }}{{ toYaml (index . 4) | nindent 2 }}{{ end }}
{{- if and (gt (len .) 3) (index . (min 3 (sub (len .) 1) | int)) $root.Values.keepData }}
annotations:
  helm.sh/resource-policy: keep
{{- end }}
{{- end }}

{{- define "data.selector" -}}
app.kubernetes.io/name: taskmesh-data
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "data.validate" -}}
{{- $problems := list -}}
{{- with .Values.postgresql }}
{{- if and .backups.enabled (not .backups.destinationPath) }}{{ $problems = append $problems "postgresql.backups.enabled is true: set postgresql.backups.destinationPath, such as s3://bucket/taskmesh" }}{{ end }}
{{- if and .recovery.fromRelease (not .backups.enabled) }}{{ $problems = append $problems "postgresql.recovery.fromRelease needs the archives: set postgresql.backups" }}{{ end }}
{{- if and .recovery.fromRelease (eq .recovery.fromRelease (include "data.fullname" $)) }}{{ $problems = append $problems "postgresql.recovery.fromRelease is this release: install one with another name, an archive has one writer" }}{{ end }}
{{- if and .recovery.targetTime (not .recovery.fromRelease) }}{{ $problems = append $problems "postgresql.recovery.targetTime needs postgresql.recovery.fromRelease: name the release whose archives are read" }}{{ end }}
{{- range $name := list "auth" "tasks" "backup" }}
{{- $instances := int (index $.Values.postgresql $name).instances }}
{{- if and $.Values.postgresql.enabled (ge (int $.Values.postgresql.synchronousReplicas) $instances) }}{{ $problems = append $problems (printf "postgresql.synchronousReplicas is %d, but postgresql.%s.instances %d: commits would wait for ever; set it below" (int $.Values.postgresql.synchronousReplicas) $name $instances) }}{{ end }}
{{- end }}
{{- end }}
{{- if $problems }}
{{- fail (printf "\n\nThese values do not go together:\n  - %s\n" (join "\n  - " $problems)) }}
{{- end }}
{{- end }}
