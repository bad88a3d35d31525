{{/*
Where each of the product's own keys is: (list root name) gives `secret` and `key` as JSON. What has no secret of the
operator's own is in the one that the keys hook makes.
*/}}
{{- define "taskmesh.keyRef" -}}
{{- $root := index . 0 -}}
{{- $keys := $root.Values.keys -}}
{{- $made := printf "%s-keys" (include "taskmesh.fullname" $root) -}}
{{- $all := dict
  "accessTokens" (list $keys.accessTokens.existingSecret $keys.accessTokens.key "access-token-keys.json")
  "gatewayIdentity" (list $keys.identity.existingSecret $keys.identity.gatewayKey "gateway-identity.json")
  "backupIdentity" (list $keys.identity.existingSecret $keys.identity.backupKey "backup-identity.json")
  "tasksIdentity" (list $keys.identity.existingSecret $keys.identity.tasksKey "tasks-identity.json")
  "publicIdentity" (list $keys.identity.existingSecret $keys.identity.publicKey "identity-public.json")
  "backupToken" (list $keys.backupToken.existingSecret $keys.backupToken.key "backup-token") -}}
{{- $one := index $all (index . 1) -}}
{{- if index $one 0 }}{{ dict "secret" (index $one 0) "key" (index $one 1) | toJson }}
{{- else }}{{ dict "secret" $made "key" (index $one 2) | toJson }}{{ end }}
{{- end }}

{{/*
The secrets of a component as JSON: `env` (variable, secret, key, the value's path in values.yaml, and for a URL the
parameters that name files) and `files` (variable, secret, key, the path in the pod; without a variable, a URL names it).
One list for the pods, the preflight and the network.
*/}}
{{- define "taskmesh.secrets" -}}
{{- $root := index . 0 -}}
{{- $name := index . 1 -}}
{{- $values := $root.Values -}}
{{- $service := include "taskmesh.service" $name | fromJson -}}
{{- $env := list -}}
{{- $files := list -}}
{{- $key := dict -}}
{{- range list "accessTokens" "gatewayIdentity" "backupIdentity" "tasksIdentity" "publicIdentity" "backupToken" }}
{{- $_ := set $key . (include "taskmesh.keyRef" (list $root .) | fromJson) }}
{{- end }}

{{- if eq $name "all" }}
{{- with $values.keys.backupToken }}{{ if .existingSecret }}
{{- $env = append $env (dict "name" "BACKUP_TOKEN" "secret" .existingSecret "key" .key "path" "keys.backupToken") }}
{{- end }}{{ end }}
{{- end }}

{{- if has "postgresql" $service.servers }}
{{- with index $values.postgresql $name }}
{{- $env = append $env (dict "name" "POSTGRES_URL" "secret" .existingSecret "key" .key "path" (printf "postgresql.%s" $name) "query" (include "taskmesh.postgresqlQuery" (list $name .ca) | fromJsonArray)) }}
{{- end }}
{{- end }}
{{- if not (has $name (list "gateway" "all")) }}
{{- $files = append $files (dict "name" "IDENTITY_PUBLIC_KEYS_FILE" "secret" $key.publicIdentity.secret "key" $key.publicIdentity.key "file" "identity/public.json" "path" "keys.identity") }}
{{- end }}
{{- range ternary (list "auth" "tasks" "backup") (list $name) (eq $name "backup") }}
{{- $store := . }}
{{- with dig . "ca" (dict "existingSecret" "") $values.postgresql }}{{ if and .existingSecret (ne $name "gateway") }}
{{- $files = append $files (dict "name" "" "secret" .existingSecret "key" .key "file" (printf "postgresql/%s.crt" $store) "path" (printf "postgresql.%s.ca" $store)) }}
{{- end }}{{ end }}
{{- end }}

{{- if has "redis" $service.servers }}
{{- with $values.redis }}
{{- $query := list }}
{{- if .ca.existingSecret }}
{{- $query = append $query (list "sslrootcert" "redis/ca.crt") }}
{{- $files = append $files (dict "name" "" "secret" .ca.existingSecret "key" .ca.key "file" "redis/ca.crt" "path" "redis.ca") }}
{{- end }}
{{- with .clientCertificate }}{{ if .existingSecret }}
{{- $query = concat $query (list (list "sslcert" "redis/tls.crt") (list "sslkey" "redis/tls.key")) }}
{{- $files = append $files (dict "name" "" "secret" .existingSecret "key" .certificateKey "file" "redis/tls.crt" "path" "redis.clientCertificate") }}
{{- $files = append $files (dict "name" "" "secret" .existingSecret "key" .privateKeyKey "file" "redis/tls.key" "path" "redis.clientCertificate") }}
{{- end }}{{ end }}
{{- $env = append $env (dict "name" "REDIS_URL" "secret" .existingSecret "key" .key "path" "redis" "query" $query) }}
{{- end }}
{{- end }}

{{- if has "kafka" $service.servers }}
{{- with $values.kafka }}
{{- if and .tls.enabled .tls.ca.existingSecret }}
{{- $files = append $files (dict "name" "" "secret" .tls.ca.existingSecret "key" .tls.ca.key "file" "kafka/ca.crt" "path" "kafka.tls.ca") }}
{{- end }}
{{- with index .clientCertificates $name }}{{ if .existingSecret }}
{{- $path := printf "kafka.clientCertificates.%s" $name }}
{{- $files = append $files (dict "name" "" "secret" .existingSecret "key" .certificateKey "file" "kafka/user.crt" "path" $path) }}
{{- $files = append $files (dict "name" "" "secret" .existingSecret "key" .privateKeyKey "file" "kafka/user.key" "path" $path) }}
{{- end }}{{ end }}
{{- if .sasl.mechanism }}
{{- with index .sasl $name }}
{{- $env = append $env (dict "name" "KAFKA_SASL_PASSWORD" "secret" .existingSecret "key" .key "path" (printf "kafka.sasl.%s" $name)) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- if eq $name "gateway" }}
{{- $files = append $files (dict "name" "IDENTITY_KEY_FILE" "secret" $key.gatewayIdentity.secret "key" $key.gatewayIdentity.key "file" "identity/key.json" "path" "keys.identity") }}
{{- $env = append $env (dict "name" "BACKUP_TOKEN" "secret" $key.backupToken.secret "key" $key.backupToken.key "path" "keys.backupToken") }}
{{- else if eq $name "auth" }}
{{- $files = append $files (dict "name" "ACCESS_TOKEN_KEYS_FILE" "secret" $key.accessTokens.secret "key" $key.accessTokens.key "file" "access-tokens/keys.json" "path" "keys.accessTokens") }}
{{- else if eq $name "tasks" }}
{{- $files = append $files (dict "name" "IDENTITY_KEY_FILE" "secret" $key.tasksIdentity.secret "key" $key.tasksIdentity.key "file" "identity/key.json" "path" "keys.identity") }}
{{- else if eq $name "backup" }}
{{- $files = append $files (dict "name" "IDENTITY_KEY_FILE" "secret" $key.backupIdentity.secret "key" $key.backupIdentity.key "file" "identity/key.json" "path" "keys.identity") }}
{{- with $values.postgresql }}
{{- $env = append $env (dict "name" "AUTH_ADMIN_URL" "secret" .authAdmin.existingSecret "key" .authAdmin.key "path" "postgresql.authAdmin" "query" (include "taskmesh.postgresqlQuery" (list "auth" .auth.ca) | fromJsonArray)) }}
{{- $env = append $env (dict "name" "TASKS_ADMIN_URL" "secret" .tasksAdmin.existingSecret "key" .tasksAdmin.key "path" "postgresql.tasksAdmin" "query" (include "taskmesh.postgresqlQuery" (list "tasks" .tasks.ca) | fromJsonArray)) }}
{{- end }}
{{- end }}
{{- if or (has $name (list "auth" "all")) (and (eq $name "backup") $values.backup.settings.BACKUP_MAIL_TO) }}
{{- with $values.auth.smtp }}{{ if .existingSecret }}
{{- $env = append $env (dict "name" "SMTP_URL" "secret" .existingSecret "key" .key "path" "auth.smtp") }}
{{- end }}{{ end }}
{{- end }}
{{- if has $name (list "auth" "all") }}
{{- with $values.auth.oidc }}{{ if and .existingSecret $values.auth.settings.OIDC_ISSUER }}
{{- $env = append $env (dict "name" "OIDC_CLIENT_SECRET" "secret" .existingSecret "key" .key "path" "auth.oidc") }}
{{- end }}{{ end }}
{{- end }}
{{- if has $name (list "backup" "all") }}
{{- with $values.backup.s3 }}{{ if .existingSecret }}
{{- $env = append $env (dict "name" "BACKUP_S3_URL" "secret" .existingSecret "key" .key "path" "backup.s3") }}
{{- end }}{{ end }}
{{- with $values.backup.webhook }}{{ if .existingSecret }}
{{- $env = append $env (dict "name" "BACKUP_WEBHOOK_URL" "secret" .existingSecret "key" .key "path" "backup.webhook") }}
{{- end }}{{ end }}
{{- with $values.backup.encryption }}{{ if .existingSecret }}
{{- $files = append $files (dict "name" "BACKUP_KEY_FILE" "secret" .existingSecret "key" .key "file" "encryption/keys.txt" "path" "backup.encryption") }}
{{- end }}{{ end }}
{{- end }}
{{- with $values.telemetry }}{{ if and .endpoint .headers.existingSecret }}
{{- $env = append $env (dict "name" "OTEL_EXPORTER_OTLP_HEADERS" "secret" .headers.existingSecret "key" .headers.key "path" "telemetry.headers") }}
{{- end }}{{ end }}
{{- dict "env" $env "files" $files | toJson -}}
{{- end }}

{{/* The parameters of a PostgreSQL URL whose server has an authority of its own: (list store ca). */}}
{{- define "taskmesh.postgresqlQuery" -}}
{{- if (index . 1).existingSecret }}{{ list (list "sslmode=verify-full&sslrootcert" (printf "postgresql/%s.crt" (index . 0))) | toJson }}{{ else }}[]{{ end }}
{{- end }}

{{/* Environment variables out of secrets; takes the list `env`. */}}
{{- define "taskmesh.secretEnv" -}}
{{- range $env := . }}
- name: {{ ternary (printf "%s_PLAIN" .name) .name (not (empty .query)) }}
  valueFrom:
    secretKeyRef: { name: {{ .secret | quote }}, key: {{ .key | quote }} }
{{- with .query }}
{{- $parameters := list }}
{{- range . }}{{ $parameters = append $parameters (printf "%s=/etc/taskmesh/%s" (index . 0) (index . 1)) }}{{ end }}
- name: {{ $env.name }}
  value: $({{ $env.name }}_PLAIN)?{{ join "&" $parameters }}
{{- end }}
{{- end }}
{{- end }}

{{/* One volume that holds every file: (list files optional). */}}
{{- define "taskmesh.secretVolume" -}}
- name: secrets
  projected:
    defaultMode: 288 # 0440, for readers of YAML 1.1 and 1.2 alike
    sources:
    {{- range index . 0 }}
      - secret:
          name: {{ .secret | quote }}
          items: [{ key: {{ .key | quote }}, path: {{ .file }} }]
    {{- end }}
{{- end }}
