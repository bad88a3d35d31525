{{- define "taskmesh.podSecurity" -}}
runAsNonRoot: true
{{- range $key, $id := .Values.podSecurityContext }}{{ if ne (toString $id) "" }}
{{ $key }}: {{ $id | int64 }}
{{- end }}{{ end }}
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "taskmesh.containerSecurity" -}}
allowPrivilegeEscalation: false
privileged: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities: { drop: [ALL] }
{{- end }}

{{/* The settings of a map, less those without a value; numbers as they are written, never with an exponent. */}}
{{- define "taskmesh.settings" -}}
{{- range $name, $value := . }}
{{- $text := ternary $value (toJson $value) (kindIs "string" $value) }}
{{- if ne $text "" }}
- name: {{ $name }}
  value: {{ $text | quote }}
{{- end }}
{{- end }}
{{- end }}

{{/* How a component reaches Kafka: (list root component), with the folder of its files. */}}
{{- define "taskmesh.kafkaBrokers" -}}
{{- $name := index . 1 -}}
{{- $files := index . 2 -}}
{{- with (index . 0).Values.kafka -}}
{{- $query := list -}}
{{- $login := "" -}}
{{- if .sasl.mechanism }}
{{- $login = printf "%s@" (urlquery (index .sasl $name).username | replace "+" "%20") }}
{{- $query = append $query (printf "mechanism=%s" .sasl.mechanism) }}
{{- end }}
{{- if and .tls.enabled .tls.ca.existingSecret }}{{ $query = append $query (printf "sslrootcert=%s/kafka/ca.crt" $files) }}{{ end }}
{{- if (index .clientCertificates $name).existingSecret }}
{{- $query = concat $query (list (printf "sslcert=%s/kafka/user.crt" $files) (printf "sslkey=%s/kafka/user.key" $files)) }}
{{- end }}
{{- $brokers := join "," .brokers }}
{{- if or .tls.enabled $query }}{{ ternary "kafkas" "kafka" .tls.enabled }}://{{ $login }}{{ $brokers }}{{ with $query }}?{{ join "&" . }}{{ end }}
{{- else }}{{ $brokers }}{{ end }}
{{- end -}}
{{- end }}

{{/* Where traces go; takes the root. */}}
{{- define "taskmesh.telemetryEnv" -}}
{{- with .Values.telemetry }}{{ if .endpoint }}
{{- $attributes := list (printf "k8s.namespace.name=%s" $.Release.Namespace) "k8s.pod.name=$(POD_NAME)" }}
{{- range $name, $value := .resourceAttributes }}{{ $attributes = append $attributes (printf "%s=%s" $name $value) }}{{ end }}
- name: POD_NAME
  valueFrom:
    fieldRef: { fieldPath: metadata.name }
{{- include "taskmesh.settings" (dict "OTEL_EXPORTER_OTLP_ENDPOINT" .endpoint "OTEL_EXPORTER_OTLP_PROTOCOL" .protocol "OTEL_TRACES_SAMPLER" "parentbased_traceidratio" "OTEL_TRACES_SAMPLER_ARG" .samplerRatio "TRACE_CALLERS_PER_S" .callersPerSecond) }}
- name: OTEL_RESOURCE_ATTRIBUTES
  value: {{ join "," $attributes | quote }}
{{- end }}{{ end }}
{{- end }}

{{/* The chart's own environment of a component; takes (list root component). */}}
{{- define "taskmesh.env" -}}
{{- $root := index . 0 -}}
{{- $name := index . 1 -}}
{{- $values := $root.Values -}}
{{- $service := include "taskmesh.service" $name | fromJson -}}
{{- $component := include "taskmesh.component" . | fromJson -}}
{{- $secrets := include "taskmesh.secrets" . | fromJson -}}
{{- $url := include "taskmesh.publicUrl" $root -}}
{{- $heap := div (mul (include "taskmesh.mebibytes" $component.resources.limits.memory) $component.heapPercent) 100 -}}
{{- include "taskmesh.settings" (dict "HOST" "::" "PORT" "4000" "ADMIN_HOST" "::" "ADMIN_PORT" "14000" "DATA_DIR" "/data" "NODE_OPTIONS" (printf "--max-old-space-size=%d --max-semi-space-size=32" $heap)) }}
{{- include "taskmesh.settings" (pick $values.settings "NODE_ENV" "LOG_LEVEL") }}
{{- if has $name (list "gateway" "auth" "all") }}
{{- include "taskmesh.settings" (dict "PUBLIC_URL" $url) }}
{{- end }}
{{- if has $name (list "auth" "all") }}
{{- include "taskmesh.settings" (pick $values.settings "RATE_LIMIT_FACTOR") }}
{{- end }}
{{- range ternary (include "taskmesh.serviceNames" list | fromJsonArray) (list $name) (eq $name "all") }}
{{- include "taskmesh.settings" (index $values .).settings }}
{{- end }}
{{- if and (eq $name "backup") $values.backup.settings.BACKUP_MAIL_TO }}
{{- include "taskmesh.settings" (pick $values.auth.settings "MAIL_FROM") }}
{{- end }}
{{- if or (eq $name "all") (has "postgresql" $service.servers) }}
{{- include "taskmesh.settings" (dict "MIGRATE_AT_START" (or (eq $name "all") (eq $values.migrations.mode "start")) "NEWER_SCHEMA" $values.migrations.newerSchema) }}
{{- end }}
{{- range $service.calls }}
{{- include "taskmesh.settings" (dict (printf "%s_URL" (upper .)) (include "taskmesh.serviceUrl" (list $root .))) }}
{{- end }}
{{- if has $name (list "gateway" "all") }}
{{- with $values.gateway }}
{{- include "taskmesh.settings" (dict "TRUSTED_DOCUMENTS" .trustedDocuments.mode) }}
{{- if and $component.isScaled (eq (toString .settings.REALTIME_MAX_CONNECTION_AGE_S) "") }}
{{- include "taskmesh.settings" (dict "REALTIME_MAX_CONNECTION_AGE_S" 1800) }}
{{- end }}
{{- if ne .trustedDocuments.mode "off" }}
{{- include "taskmesh.settings" (dict "TRUSTED_DOCUMENTS_FILE" (printf "/etc/taskmesh-documents/%s" .trustedDocuments.key)) }}
{{- end }}
{{- if .supergraph.existingConfigMap }}
{{- include "taskmesh.settings" (dict "SUPERGRAPH_FILE" (printf "/etc/taskmesh-supergraph/%s" .supergraph.key)) }}
{{- end }}
{{- end }}
{{- end }}
{{- if has "kafka" $service.servers }}
{{- include "taskmesh.settings" (dict "KAFKA_BROKERS" (include "taskmesh.kafkaBrokers" (list $root $name "/etc/taskmesh")) "KAFKA_TOPIC_PREFIX" $values.kafka.topicPrefix) }}
{{- end }}
{{- if has $name (list "backup" "all") }}
{{- include "taskmesh.settings" (dict "BACKUPS_DIR" (ternary "/backups" "/data/backups" (eq $name "backup"))) }}
{{- end }}
{{- include "taskmesh.telemetryEnv" $root }}
{{- include "taskmesh.secretEnv" $secrets.env }}
{{- range $secrets.files }}{{ if .name }}
- name: {{ .name }}
  value: {{ printf "/etc/taskmesh/%s" .file | quote }}
{{- end }}{{ end }}
{{- end }}

{{- define "taskmesh.configVolumes" -}}
{{- with .Values.gateway.supergraph.existingConfigMap }}
- name: supergraph
  configMap: { name: {{ . | quote }} }
{{- end }}
{{- with .Values.gateway.trustedDocuments.existingConfigMap }}
- name: documents
  configMap: { name: {{ . | quote }} }
{{- end }}
{{- end }}

{{- define "taskmesh.configMounts" -}}
{{- if .Values.gateway.supergraph.existingConfigMap }}
- { name: supergraph, mountPath: /etc/taskmesh-supergraph, readOnly: true }
{{- end }}
{{- if .Values.gateway.trustedDocuments.existingConfigMap }}
- { name: documents, mountPath: /etc/taskmesh-documents, readOnly: true }
{{- end }}
{{- end }}

{{- define "taskmesh.probe" -}}
httpGet: { path: {{ . }}, port: admin }
timeoutSeconds: 3
{{- end }}

{{/* takes (list root component pod) */}}
{{- define "taskmesh.podMetadata" -}}
{{- $root := index . 0 -}}
{{- $pod := index . 2 -}}
labels:
  {{- include "taskmesh.labels" (list $root (index . 1) $pod.labels) | nindent 2 }}
{{- with merge (dict) $pod.annotations $root.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Which nodes take a pod; takes its values. */}}
{{- define "taskmesh.placement" -}}
{{- with .priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with .nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The pod of a component; takes (list root component). */}}
{{- define "taskmesh.pod" -}}
{{- $root := index . 0 -}}
{{- $name := index . 1 -}}
{{- $values := $root.Values -}}
{{- $component := include "taskmesh.component" . | fromJson -}}
{{- $secrets := include "taskmesh.secrets" . | fromJson -}}
{{- $pod := $component.pod -}}
{{- $keepsArchives := and (eq $name "backup") (not (dig "s3" "existingSecret" "" $component)) -}}
metadata:
  {{- include "taskmesh.podMetadata" (list $root $name $pod) | nindent 2 }}
spec:
  serviceAccountName: {{ include "taskmesh.named" . | quote }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ include "taskmesh.grace" $pod }}
  {{- include "taskmesh.pullSecrets" $root | nindent 2 }}
  {{- include "taskmesh.placement" $pod | nindent 2 }}
  {{- if ne $name "all" }}
  topologySpreadConstraints:
  {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
    - maxSkew: 1
      topologyKey: {{ . }}
      whenUnsatisfiable: {{ eq . "kubernetes.io/hostname" | ternary $pod.topologySpread "ScheduleAnyway" }}
      labelSelector:
        matchLabels:
          {{- include "taskmesh.selector" (list $root $name) | nindent 10 }}
      matchLabelKeys: [pod-template-hash]
  {{- end }}
  {{- end }}
  securityContext:
    {{- include "taskmesh.podSecurity" $root | nindent 4 }}
  {{- if and (eq $values.migrations.mode "initContainer") (has "postgresql" (include "taskmesh.service" $name | fromJson).servers) }}
  initContainers:
    {{- include "taskmesh.extended" (dict "container" (include "taskmesh.migrateContainer" .) "pod" $pod) | nindent 4 }}
  {{- end }}
  containers:
    - name: {{ $name }}
      image: {{ include "taskmesh.image" $root | quote }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      args: [{{ $name }}]
      securityContext:
        {{- include "taskmesh.containerSecurity" $root | nindent 8 }}
      env:
        {{- include "taskmesh.env" . | nindent 8 }}
        {{- with $pod.extraEnv }}{{ toYaml . | nindent 8 }}{{ end }}
      ports:
        - { name: http, containerPort: 4000 }
        - { name: admin, containerPort: 14000 }
      startupProbe:
        {{- include "taskmesh.probe" "/livez" | nindent 8 }}
        periodSeconds: 2
        failureThreshold: {{ div $pod.startupSeconds 2 }}
      livenessProbe:
        {{- include "taskmesh.probe" "/livez" | nindent 8 }}
        periodSeconds: 10
        failureThreshold: 6
      readinessProbe:
        {{- include "taskmesh.probe" "/readyz" | nindent 8 }}
        periodSeconds: 5
        failureThreshold: 2
      {{- if $pod.preStopSeconds }}
      lifecycle:
        preStop:
          sleep: { seconds: {{ $pod.preStopSeconds }} }
      {{- end }}
      resources:
        {{- toYaml $component.resources | nindent 8 }}
      volumeMounts:
        - { name: data, mountPath: /data }
        - { name: tmp, mountPath: /tmp }
        {{- if $secrets.files }}
        - { name: secrets, mountPath: /etc/taskmesh, readOnly: true }
        {{- end }}
        {{- if $keepsArchives }}
        - { name: backups, mountPath: /backups }
        {{- end }}
        {{- if has $name (list "gateway" "all") }}
        {{- include "taskmesh.configMounts" $root | indent 8 }}
        {{- end }}
        {{- with $pod.extraVolumeMounts }}{{ toYaml . | nindent 8 }}{{ end }}
  volumes:
    {{- if eq $name "all" }}
    {{- with $component.persistence }}
    - name: data
      {{- if .enabled }}
      persistentVolumeClaim: { claimName: {{ .existingClaim | default (include "taskmesh.fullname" $root) | quote }} }
      {{- else }}
      emptyDir: { sizeLimit: {{ .size | quote }} }
      {{- end }}
    {{- end }}
    {{- else }}
    - name: data
      emptyDir: { sizeLimit: {{ ternary $values.backup.scratchSize "64Mi" (eq $name "backup") | quote }} }
    {{- end }}
    - name: tmp
      emptyDir: { sizeLimit: 256Mi }
    {{- if $keepsArchives }}
    {{- with $component.persistence }}
    - name: backups
      {{- if .enabled }}
      persistentVolumeClaim: { claimName: {{ .existingClaim | default (include "taskmesh.named" (list $root "backup")) | quote }} }
      {{- else }}
      emptyDir: { sizeLimit: {{ .size | quote }} }
      {{- end }}
    {{- end }}
    {{- end }}
    {{- with $secrets.files }}
    {{- include "taskmesh.secretVolume" (list .) | nindent 4 }}
    {{- end }}
    {{- if has $name (list "gateway" "all") }}
    {{- include "taskmesh.configVolumes" $root | indent 4 }}
    {{- end }}
    {{- with $pod.extraVolumes }}{{ toYaml . | nindent 4 }}{{ end }}
{{- end }}

{{- define "taskmesh.pullSecrets" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ . | quote }}
{{- end }}
{{- end }}
{{- end }}
