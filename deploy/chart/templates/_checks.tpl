{{- /* What a schema cannot say. Each message names the value and the rule. */ -}}
{{- define "platform.checks" -}}
{{- $values := .Values -}}
{{- range fromJsonArray (include "platform.requiredSecrets" .) -}}
{{- $given := index $values.secrets . -}}
{{- if not (or $given.value $given.existingSecret $values.secrets.existingSecret) -}}
{{- fail (printf "secrets.%s is needed: set value or existingSecret, or secrets.existingSecret" .) -}}
{{- end -}}
{{- end -}}
{{- if and $values.models.variables (not (or $values.models.existingSecret $values.secrets.existingSecret)) -}}
{{- fail "models.variables needs models.existingSecret or secrets.existingSecret" -}}
{{- end -}}
{{- $issuer := dig "oidc" "issuer_url" "" $values.config -}}
{{- if not (or $issuer $values.core.allowWithoutSignIn) -}}
{{- fail "config.oidc.issuer_url is needed: without it every caller has all roles (core.allowWithoutSignIn: true allows that)" -}}
{{- end -}}
{{- if and $issuer (not (dig "oidc" "client_id" "" $values.config)) -}}
{{- fail "config.oidc.client_id is needed with config.oidc.issuer_url" -}}
{{- end -}}
{{- if and (eq $values.worker.autoscaling.mode "keda") (not $values.worker.autoscaling.keda.prometheusAddress) -}}
{{- fail "worker.autoscaling.keda.prometheusAddress is needed with worker.autoscaling.mode: keda" -}}
{{- end -}}
{{- if and (eq $values.iac.placement "worker") (ne $values.worker.autoscaling.mode "none") -}}
{{- fail "worker.autoscaling.mode must be none with iac.placement: worker, because the engine of a pod ends with it" -}}
{{- end -}}
{{- if and (eq $values.iac.sandbox "required") (not $values.iac.sandboxPrivileges) -}}
{{- fail "iac.sandbox: required needs iac.sandboxPrivileges: true" -}}
{{- end -}}
{{- if le (int $values.iac.terminationGracePeriodSeconds) (add (int $values.iac.stopGraceSeconds) 10) -}}
{{- fail "iac.terminationGracePeriodSeconds must be more than iac.stopGraceSeconds and 10" -}}
{{- end -}}
{{- if le (int $values.core.terminationGracePeriodSeconds) (add (int $values.core.preStopSeconds) 9) -}}
{{- fail "core.terminationGracePeriodSeconds must be more than core.preStopSeconds and the 9 seconds of a stop" -}}
{{- end -}}
{{- if and $values.core.autoscaling.enabled (lt (int $values.core.autoscaling.maxReplicas) (int $values.core.autoscaling.minReplicas)) -}}
{{- fail "core.autoscaling.maxReplicas must not be less than minReplicas" -}}
{{- end -}}
{{- if and (ne $values.worker.autoscaling.mode "none") (lt (int $values.worker.autoscaling.maxReplicas) (int $values.worker.autoscaling.minReplicas)) -}}
{{- fail "worker.autoscaling.maxReplicas must not be less than minReplicas" -}}
{{- end -}}
{{- if and (eq $values.worker.autoscaling.mode "hpa") (lt (int $values.worker.autoscaling.minReplicas) 1) -}}
{{- fail "worker.autoscaling.minReplicas must be 1 or more with mode: hpa" -}}
{{- end -}}
{{- end -}}
