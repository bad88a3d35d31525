{{/* What would make a pod that no server takes, or that cannot work: sentences as JSON. */}}
{{- define "taskmesh.podProblems" -}}
{{- $problems := list -}}
{{- $volumes := list "data" "tmp" "secrets" "backups" "supergraph" "documents" -}}
{{- $places := list "/data" "/tmp" "/backups" "/etc/taskmesh" "/etc/taskmesh-supergraph" "/etc/taskmesh-documents" -}}
{{- range include "taskmesh.serviceNames" list | fromJsonArray }}
{{- $volumes = append $volumes (printf "secrets-%s" .) }}
{{- $places = append $places (printf "/secrets/%s" .) }}
{{- end -}}
{{- range $name := append (splitList "," (include "taskmesh.components" .)) "jobs" }}
{{- $part := ternary "allInOne" $name (eq $name "all") }}
{{- $values := index $.Values $part }}
{{- $own := $values.pod }}
{{- $pod := include "taskmesh.podOf" (list $ $own) | fromJson }}
{{- $path := dict }}
{{- range $key, $_ := $pod }}{{ $_ := set $path $key (printf "%s.%s" (ternary (printf "%s.pod" $part) "pod" (hasKey $own $key)) $key) }}{{ end }}

{{- /* A variable that stands there twice is refused by servers, or the last one wins. */}}
{{- $taken := list }}
{{- if ne $name "jobs" }}{{ range include "taskmesh.env" (list $ $name) | fromYamlArray }}{{ $taken = append $taken .name }}{{ end }}{{ end }}
{{- $extra := list }}
{{- range $pod.extraEnv }}
{{- if has .name $taken }}{{ $problems = append $problems (printf "%s has %s, which the chart sets itself: remove it there, and use the chart's own value for it" $path.extraEnv .name) }}{{ end }}
{{- if has .name $extra }}{{ $problems = append $problems (printf "%s has %s twice: remove one" $path.extraEnv .name) }}{{ end }}
{{- $extra = append $extra .name }}
{{- end }}

{{- $extra = list }}
{{- range $pod.extraVolumes }}
{{- if has .name $volumes }}{{ $problems = append $problems (printf "%s has %s, which is a volume of the chart's own: give it another name" $path.extraVolumes .name) }}{{ end }}
{{- if has .name $extra }}{{ $problems = append $problems (printf "%s has %s twice: remove one" $path.extraVolumes .name) }}{{ end }}
{{- $extra = append $extra .name }}
{{- end }}
{{- $taken = $places }}
{{- range $pod.extraVolumeMounts }}
{{- $place := trimSuffix "/" .mountPath }}
{{- if has $place $taken }}{{ $problems = append $problems (printf "%s has %s, which is taken: mount it elsewhere" $path.extraVolumeMounts .mountPath) }}{{ end }}
{{- $taken = append $taken $place }}
{{- if not (has .name (append $extra "tmp")) }}{{ $problems = append $problems (printf "%s mounts %s, which is no volume: add it to %s" $path.extraVolumeMounts .name $path.extraVolumes) }}{{ end }}
{{- end }}

{{- if not (regexMatch "^([1-9][0-9]*|([1-9][0-9]?|100)%)$" (toString $pod.maxUnavailable)) }}
{{- $problems = append $problems (printf "%s is %v: set a number from 1, or a part from 1%% to 100%%; with none away no node could be drained" $path.maxUnavailable $pod.maxUnavailable) }}
{{- end }}

{{- $limits := $values.resources.limits }}
{{- if lt (include "taskmesh.mebibytes" $limits.memory | int64) 128 }}
{{- $problems = append $problems (printf "%s.resources.limits.memory is %v: nothing starts with less than 128Mi" $part $limits.memory) }}
{{- end }}
{{- range $kind, $request := $values.resources.requests }}
{{- if hasKey $limits $kind }}{{ if gt (include "taskmesh.amount" $request | float64) (include "taskmesh.amount" (index $limits $kind) | float64) }}
{{- $problems = append $problems (printf "%s.resources.requests.%s is %v, above the limit of %v: lower it" $part $kind $request (index $limits $kind)) }}
{{- end }}{{ end }}
{{- end }}
{{- if and (ne (dig "autoscaling" "mode" "none" $values) "none") (not (dig "resources" "requests" "cpu" "" $values)) }}
{{- $problems = append $problems (printf "%s.autoscaling goes by the CPU request: set %s.resources.requests.cpu" $part $part) }}
{{- end }}
{{- end }}
{{- toJson $problems -}}
{{- end }}
