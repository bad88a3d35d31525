{{/* What the schema cannot say. Each sentence names the path and the remedy. */}}
{{- define "data.validate" -}}
{{- $problems := list -}}
{{- $full := include "data.fullname" . -}}
{{- /* Kafka's pods are <prefix>-<prefix>-kafka-<number>, in 63 characters; PostgreSQL's clusters have up to 50. */}}
{{- $longest := ternary 26 40 .Values.kafka.enabled }}
{{- if or (gt (len $full) $longest) (not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" $full)) }}
{{- $problems = append $problems (printf "the objects' names would begin with %q, which the servers cannot have: set fullnameOverride, or the release's name, to at most %d of a-z, 0-9 and -, beginning with a letter" $full $longest) }}
{{- end }}
{{- $own := set (include "data.ownLabels" (list . "any") | fromYaml) "strimzi.io/cluster" "" }}
{{- range $label, $_ := .Values.commonLabels }}
{{- if hasKey $own $label }}{{ $problems = append $problems (printf "commonLabels has %s, which is the chart's own: remove it there" $label) }}{{ end }}
{{- end }}
{{- with .Values.postgresql }}
{{- if and .backups.enabled (not .backups.destinationPath) }}{{ $problems = append $problems "postgresql.backups.enabled is true: set postgresql.backups.destinationPath, such as s3://bucket/taskmesh" }}{{ end }}
{{- if and .recovery.fromRelease (not .backups.enabled) }}{{ $problems = append $problems "postgresql.recovery.fromRelease needs the archives: set postgresql.backups" }}{{ end }}
{{- if and .recovery.fromRelease (eq .recovery.fromRelease $full) }}{{ $problems = append $problems "postgresql.recovery.fromRelease is this release: install one with another name, an archive has one writer" }}{{ end }}
{{- if and .recovery.targetTime (not .recovery.fromRelease) }}{{ $problems = append $problems "postgresql.recovery.targetTime needs postgresql.recovery.fromRelease: name the release whose archives are read" }}{{ end }}
{{- range $name := splitList "," (include "data.stores" .) }}
{{- $instances := int (index $.Values.postgresql $name).instances }}
{{- if and $.Values.postgresql.enabled (ge (int $.Values.postgresql.synchronousReplicas) $instances) }}{{ $problems = append $problems (printf "postgresql.synchronousReplicas is %d, but postgresql.%s.instances %d: no commit would ever have so many copies; set it below" (int $.Values.postgresql.synchronousReplicas) $name $instances) }}{{ end }}
{{- end }}
{{- end }}
{{- if and .Values.kafka.enabled (eq (int .Values.kafka.replicas) 2) }}{{ $problems = append $problems "kafka.replicas is 2: brokers are controllers as well, and of two neither has a majority alone; set 3, or 1" }}{{ end }}
{{- $all := dict "kafka" .Values.kafka.resources "valkey" .Values.valkey.resources }}
{{- range splitList "," (include "data.stores" .) }}{{ $_ := set $all (printf "postgresql.%s" .) (index $.Values.postgresql .).resources }}{{ end }}
{{- range $path, $resources := $all }}
{{- range $kind, $request := $resources.requests }}
{{- if hasKey $resources.limits $kind }}{{ if gt (include "data.amount" $request | float64) (include "data.amount" (index $resources.limits $kind) | float64) }}
{{- $problems = append $problems (printf "%s.resources.requests.%s is %v, above the limit of %v: lower it" $path $kind $request (index $resources.limits $kind)) }}
{{- end }}{{ end }}
{{- end }}
{{- end }}
{{- with .Values.valkey }}
{{- if ge (mulf (trimSuffix "mb" .maxMemory | float64) 1048576) (include "data.amount" .resources.limits.memory | float64) }}{{ $problems = append $problems (printf "valkey.maxMemory is %s, not below valkey.resources.limits.memory of %v: lower it, or the kernel ends it before it makes room" .maxMemory .resources.limits.memory) }}{{ end }}
{{- end }}
{{- if $problems }}
{{- fail (printf "\n\nThese values do not go together:\n  - %s\n" (join "\n  - " $problems)) }}
{{- end }}
{{- end }}
