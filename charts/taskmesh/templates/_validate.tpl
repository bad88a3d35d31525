{{/* What the schema cannot say: values that contradict each other. Each sentence names the path and the remedy. */}}
{{- define "taskmesh.validate" -}}
{{- $v := .Values -}}
{{- $problems := concat (include "taskmesh.nameProblems" . | fromJsonArray) (include "taskmesh.podProblems" . | fromJsonArray) -}}
{{- if eq $v.mode "distributed" }}
{{- if not $v.keys.generate }}
{{- range $name, $key := omit $v.keys "generate" }}
{{- if not $key.existingSecret }}{{ $problems = append $problems (printf "keys.%s.existingSecret is empty: name a secret, or set keys.generate to true" $name) }}{{ end }}
{{- end }}
{{- end }}
{{- if and (gt (int $v.backup.replicas) 1) (not $v.backup.s3.existingSecret) }}
{{- $problems = append $problems (printf "backup.replicas is %d, but a directory belongs to one pod: set backup.s3.existingSecret, or backup.replicas to 1" (int $v.backup.replicas)) }}
{{- end }}
{{- /* The node's disk looks free to the pod, which is evicted instead. */}}
{{- $scratch := mul 16 $v.backup.settings.BACKUP_MAX_ARCHIVE_MB }}
{{- if lt (include "taskmesh.mebibytes" $v.backup.scratchSize | int64) $scratch }}
{{- $problems = append $problems (printf "backup.scratchSize is %v: set it to %dMi or more, twice what backup.settings.BACKUP_MAX_ARCHIVE_MB allows unpacked, or lower that" $v.backup.scratchSize $scratch) }}
{{- end }}
{{- range $name := include "taskmesh.serviceNames" (list "servers" "kafka") | fromJsonArray }}
{{- $user := index $v.kafka.sasl $name }}
{{- if and $v.kafka.sasl.mechanism (or (not $user.username) (not $user.existingSecret)) }}
{{- $problems = append $problems (printf "kafka.sasl.%s lacks username or existingSecret: set both, or kafka.sasl.mechanism to an empty text" $name) }}
{{- end }}
{{- if and (index $v.kafka.clientCertificates $name).existingSecret (not $v.kafka.tls.enabled) }}
{{- $problems = append $problems (printf "kafka.clientCertificates.%s is set, but kafka.tls.enabled is false: set it to true" $name) }}
{{- end }}
{{- end }}
{{- if and $v.kafka.tls.ca.existingSecret (not $v.kafka.tls.enabled) }}
{{- $problems = append $problems "kafka.tls.ca is set, but kafka.tls.enabled is false: set it to true" }}
{{- end }}
{{- range $name := include "taskmesh.serviceNames" list | fromJsonArray }}
{{- with $scaling := (index $v $name).autoscaling }}
{{- if gt (int $scaling.minReplicas) (int $scaling.maxReplicas) }}
{{- $problems = append $problems (printf "%s.autoscaling.minReplicas is above maxReplicas: lower it" $name) }}
{{- end }}
{{- $query := or $scaling.connectionsPerPod $scaling.pendingChangesPerPod }}
{{- if and (eq $scaling.mode "keda") $query (not $v.prometheus.address) }}
{{- $problems = append $problems (printf "%s.autoscaling.mode is keda: set prometheus.address to where Prometheus answers, such as http://prometheus.monitoring:9090" $name) }}
{{- end }}
{{- end }}
{{- end }}
{{- if and $v.backup.settings.BACKUP_MAIL_TO (not $v.auth.smtp.existingSecret) }}
{{- $problems = append $problems "backup.settings.BACKUP_MAIL_TO is set, but no mail leaves: set auth.smtp.existingSecret, or BACKUP_MAIL_TO to an empty text" }}
{{- end }}
{{- else }}
{{- if ne (toString $v.podSecurityContext.runAsUser) "10001" }}
{{- $problems = append $problems "podSecurityContext.runAsUser must be 10001 with mode allInOne: PostgreSQL wants a user with a name, and the image names this one" }}
{{- end }}
{{- if and (eq $v.settings.NODE_ENV "production") (not $v.keys.backupToken.existingSecret) }}
{{- $problems = append $problems "settings.NODE_ENV is production: with mode allInOne set keys.backupToken.existingSecret, or settings.NODE_ENV to development" }}
{{- end }}
{{- range $name := list "accessTokens" "identity" }}
{{- if (index $v.keys $name).existingSecret }}{{ $problems = append $problems (printf "keys.%s.existingSecret is set, but with mode allInOne the pod makes these keys itself: remove it, or set mode to distributed" $name) }}{{ end }}
{{- end }}
{{- range $name := include "taskmesh.serviceNames" list | fromJsonArray }}
{{- $mode := dig "autoscaling" "mode" "none" (index $v $name) }}
{{- if ne $mode "none" }}{{ $problems = append $problems (printf "%s.autoscaling.mode is %s, but mode allInOne has one pod: set it to none, or mode to distributed" $name $mode) }}{{ end }}
{{- end }}
{{- end }}
{{- if and $v.backup.settings.BACKUP_KEEP (not $v.backup.settings.BACKUP_SCHEDULE) }}
{{- $problems = append $problems "backup.settings.BACKUP_KEEP needs backup.settings.BACKUP_SCHEDULE: set it, or BACKUP_KEEP to an empty text" }}
{{- end }}
{{- if ne (empty $v.auth.settings.OIDC_ISSUER) (empty $v.auth.settings.OIDC_CLIENT_ID) }}
{{- $problems = append $problems "auth.settings.OIDC_ISSUER and OIDC_CLIENT_ID go together: set both, or neither" }}
{{- end }}
{{- if not $v.auth.settings.OIDC_ISSUER }}
{{- range $path, $value := dict "oidc.existingSecret" $v.auth.oidc.existingSecret "settings.OIDC_NAME" $v.auth.settings.OIDC_NAME }}
{{- if $value }}{{ $problems = append $problems (printf "auth.%s is set, but no one signs in at a provider: set auth.settings.OIDC_ISSUER" $path) }}{{ end }}
{{- end }}
{{- end }}
{{- $proves := or $v.backup.settings.BACKUP_VERIFY $v.backup.settings.BACKUP_VERIFY_SCHEDULE }}
{{- if and $v.backup.settings.BACKUP_RECIPIENTS $proves (not $v.backup.encryption.existingSecret) }}
{{- $problems = append $problems "backup.settings.BACKUP_RECIPIENTS is set, and no key here opens such archives to prove them: set backup.encryption.existingSecret, or BACKUP_VERIFY to false and BACKUP_VERIFY_SCHEDULE to an empty text" }}
{{- end }}
{{- if and (ne $v.gateway.trustedDocuments.mode "off") (not $v.gateway.trustedDocuments.existingConfigMap) }}
{{- $problems = append $problems (printf "gateway.trustedDocuments.mode is %s: set gateway.trustedDocuments.existingConfigMap" $v.gateway.trustedDocuments.mode) }}
{{- end }}
{{- if and $v.httpRoute.enabled (not $v.httpRoute.parentRefs) }}
{{- $problems = append $problems "httpRoute.enabled is true: set httpRoute.parentRefs to your Gateway, such as [{name: public, namespace: gateways}]" }}
{{- end }}
{{- if and $v.ingress.enabled (not $v.ingress.hosts) }}
{{- $problems = append $problems "ingress.enabled is true: set ingress.hosts, such as [tasks.example.com]" }}
{{- end }}
{{- $hosts := concat (ternary $v.httpRoute.hostnames list $v.httpRoute.enabled) (ternary $v.ingress.hosts list $v.ingress.enabled) }}
{{- if and $hosts (not (include "taskmesh.publicUrl" .)) }}
{{- $problems = append $problems (printf "settings.PUBLIC_URL is empty, and no host is a single one with TLS (%s): set it to the origin that clients use, such as https://tasks.example.com, for the links in mails" (join ", " $hosts)) }}
{{- end }}
{{- range $v.prometheusRule.disabled }}
{{- if not (contains (printf "alert: %s\n" .) ($.Files.Get "files/alerts.yaml")) }}{{ $problems = append $problems (printf "prometheusRule.disabled has %s, which is no alert of this version: correct or remove it" .) }}{{ end }}
{{- end }}
{{- if $v.externalSecrets.enabled }}
{{- if not $v.externalSecrets.storeRef.name }}
{{- $problems = append $problems "externalSecrets.enabled is true: set externalSecrets.storeRef.name to your store" }}
{{- end }}
{{- if not $v.externalSecrets.secrets }}
{{- $problems = append $problems "externalSecrets.enabled is true: list what to fetch under externalSecrets.secrets, such as {taskmesh-redis: {redis-url: {key: taskmesh/redis}}}" }}
{{- end }}
{{- end }}
{{- if $problems }}
{{- fail (printf "\n\nThese values do not go together:\n  - %s\n" (uniq $problems | join "\n  - ")) }}
{{- end }}
{{- end }}
