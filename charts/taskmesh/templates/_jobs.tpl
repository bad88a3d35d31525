{{/* Brings one store up to date; takes (list root service). */}}
{{- define "taskmesh.migrateContainer" -}}
{{- $root := index . 0 -}}
{{- $name := index . 1 -}}
- name: migrate
  image: {{ include "taskmesh.image" $root | quote }}
  imagePullPolicy: {{ $root.Values.image.pullPolicy }}
  args: [migrate, {{ $name }}]
  securityContext:
    {{- include "taskmesh.containerSecurity" $root | nindent 4 }}
  env:
    {{- include "taskmesh.settings" (dict "LOG_LEVEL" $root.Values.settings.LOG_LEVEL "NEWER_SCHEMA" $root.Values.migrations.newerSchema) | nindent 4 }}
    {{- include "taskmesh.secretEnv" (include "taskmesh.migrationSecrets" . | fromJson).env | nindent 4 }}
  resources:
    {{- toYaml $root.Values.jobs.resources | nindent 4 }}
  volumeMounts:
    - { name: tmp, mountPath: /tmp }
    {{- if (include "taskmesh.migrationSecrets" . | fromJson).files }}
    - { name: secrets, mountPath: /etc/taskmesh, readOnly: true }
    {{- end }}
{{- end }}

{{/* Of a component's secrets those that a migration needs, with the role that may change the schema. */}}
{{- define "taskmesh.migrationSecrets" -}}
{{- $root := index . 0 -}}
{{- $name := index . 1 -}}
{{- $own := index $root.Values.migrations $name -}}
{{- $all := include "taskmesh.secrets" . | fromJson -}}
{{- $env := list -}}
{{- range $all.env }}{{ if eq .name "POSTGRES_URL" }}
{{- $changed := ternary (dict "secret" $own.existingSecret "key" $own.key "path" (printf "migrations.%s" $name)) (dict) (ne $own.existingSecret "") }}
{{- $env = append $env (merge $changed .) }}
{{- end }}{{ end }}
{{- $files := list -}}
{{- range $all.files }}{{ if eq .file (printf "postgresql/%s.crt" $name) }}{{ $files = append $files . }}{{ end }}{{ end }}
{{- dict "env" $env "files" $files | toJson -}}
{{- end }}

{{/* A job of one container: (dict root component account container seconds [volumes] [token] [retries]). Without seconds it never gives up. */}}
{{- define "taskmesh.jobSpec" -}}
{{- if .seconds }}
backoffLimit: {{ .retries | default 0 }}
activeDeadlineSeconds: {{ .seconds | int64 }}
{{- else }}
backoffLimit: 1000000
{{- end }}
{{- $pod := include "taskmesh.podOf" (list .root .root.Values.jobs.pod) | fromJson }}
template:
  metadata:
    {{- include "taskmesh.podMetadata" (list .root .component $pod) | nindent 4 }}
  spec:
    restartPolicy: {{ if .seconds }}Never{{ else }}OnFailure{{ end }}
    serviceAccountName: {{ .account | quote }}
    automountServiceAccountToken: {{ .token | default false }}
    enableServiceLinks: false
    {{- include "taskmesh.pullSecrets" .root | nindent 4 }}
    {{- include "taskmesh.placement" $pod | nindent 4 }}
    securityContext:
      {{- include "taskmesh.podSecurity" .root | nindent 6 }}
    containers:
      {{- include "taskmesh.extended" (dict "container" .container "pod" $pod) | nindent 6 }}
    volumes:
      - name: tmp
        emptyDir: { sizeLimit: 64Mi }
      {{- with .volumes }}{{ . | nindent 6 }}{{ end }}
      {{- with $pod.extraVolumes }}{{ toYaml . | nindent 6 }}{{ end }}
{{- end }}

{{/*
A container that is no service, with the variables and mounts that pods have as well; its own variables win. Takes
(dict container pod), the container as YAML.
*/}}
{{- define "taskmesh.extended" -}}
{{- $container := .container | fromYamlArray | first -}}
{{- $env := $container.env | default list -}}
{{- $own := list -}}
{{- range $env }}{{ $own = append $own .name }}{{ end -}}
{{- range .pod.extraEnv }}{{ if not (has .name $own) }}{{ $env = append $env . }}{{ end }}{{ end -}}
{{- with $env }}{{ $_ := set $container "env" . }}{{ end -}}
{{- $_ := set $container "volumeMounts" (concat $container.volumeMounts .pod.extraVolumeMounts) -}}
{{- toYaml (list $container) -}}
{{- end }}

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
    {{- include "taskmesh.egressToNames" $root | nindent 4 }}
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
