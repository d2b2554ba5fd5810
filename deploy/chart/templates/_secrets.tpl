{{- /* Every secret: the variable by which the platform reads it, and the components that get it. */ -}}
{{- define "platform.secretTable" -}}
databaseUrl: { variable: PLATFORM_SQL_DATABASE_URL, to: [core, worker] }
databaseDirectUrl: { variable: PLATFORM_SQL_DIRECT_URL, to: [core, worker] }
cacheUrl: { variable: PLATFORM_REDIS_URL, to: [core, worker] }
storeAccessKey: { variable: BUNDLED_ACCESS_KEY, to: [core, worker] }
storeSecretKey: { variable: BUNDLED_SECRET_KEY, to: [core, worker] }
storeAccountKey: { variable: STORAGE_ACCOUNT_KEY, to: [core, worker] }
gitUser: { variable: GIT_USER, to: [core, worker] }
gitToken: { variable: GIT_TOKEN, to: [core, worker] }
pinKey: { variable: PLATFORM_PIN_KEY, to: [worker] }
collectorApiKey: { variable: PLATFORM_COLLECTOR_API_KEY, to: [core, worker] }
iacToken: { variable: PLATFORM_IAC_TOKEN, to: [core, worker, iac] }
authzToken: { variable: PLATFORM_AUTHZ_TOKEN, to: [core, worker, authz] }
mappingToken: { variable: PLATFORM_MAPPING_TOKEN, to: [core, worker, mapping] }
notificationsToken: { variable: PLATFORM_NOTIFICATIONS_TOKEN, to: [core, worker, notifications] }
chatWebhookUrl: { variable: CHAT_WEBHOOK_URL, to: [notifications] }
smtpUrl: { variable: SMTP_URL, to: [notifications] }
notificationsWebhookUrl: { variable: NOTIFICATIONS_WEBHOOK_URL, to: [notifications] }
notificationsWebhookSecret: { variable: NOTIFICATIONS_WEBHOOK_SECRET, to: [notifications] }
{{- end -}}

{{- define "platform.secretName" -}}
{{ include "platform.fullname" . }}-secrets
{{- end -}}

{{- /* Names of the secrets without which the release would not start, as a JSON list. */ -}}
{{- define "platform.requiredSecrets" -}}
{{- $names := list "databaseUrl" "cacheUrl" "iacToken" -}}
{{- $provider := dig "storage" "provider" "BUNDLED" .Values.config | upper -}}
{{- if eq $provider "BUNDLED" -}}{{- $names = concat $names (list "storeAccessKey" "storeSecretKey") -}}{{- end -}}
{{- if eq $provider "STORAGE_ACCOUNT" -}}{{- $names = append $names "storeAccountKey" -}}{{- end -}}
{{- if eq .Values.iac.placement "worker" -}}{{- $names = append $names "pinKey" -}}{{- end -}}
{{- range list "authz" "mapping" "notifications" -}}
{{- if (index $.Values .).enabled -}}{{- $names = append $names (printf "%sToken" .) -}}{{- end -}}
{{- end -}}
{{- with .Values.notifications -}}
{{- if .enabled -}}
{{- if eq .channel "chat" -}}{{- $names = append $names "chatWebhookUrl" -}}{{- end -}}
{{- if eq .channel "email" -}}{{- $names = append $names "smtpUrl" -}}{{- end -}}
{{- if eq .channel "webhook" -}}{{- $names = concat $names (list "notificationsWebhookUrl" "notificationsWebhookSecret") -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- toJson $names -}}
{{- end -}}

{{- /* Names of the secrets that this configuration does not use, as a JSON list: they go to nobody. */ -}}
{{- define "platform.unusedSecrets" -}}
{{- $isAccount := eq (dig "storage" "provider" "BUNDLED" .Values.config | upper) "STORAGE_ACCOUNT" -}}
{{- $names := ternary (list "storeAccessKey" "storeSecretKey") (list "storeAccountKey") $isAccount -}}
{{- range $channel, $own := dict "chat" (list "chatWebhookUrl") "email" (list "smtpUrl") "webhook" (list "notificationsWebhookUrl" "notificationsWebhookSecret") -}}
{{- if ne $channel $.Values.notifications.channel -}}{{- $names = concat $names $own -}}{{- end -}}
{{- end -}}
{{- toJson $names -}}
{{- end -}}

{{- /* Variables of the secrets that a component gets: {root, component}. */ -}}
{{- define "platform.secretEnv" -}}
{{- $root := .root -}}
{{- $component := .component -}}
{{- $required := fromJsonArray (include "platform.requiredSecrets" $root) -}}
{{- $unused := fromJsonArray (include "platform.unusedSecrets" $root) -}}
{{- range $name, $rule := fromYaml (include "platform.secretTable" $root) -}}
{{- $given := index $root.Values.secrets $name -}}
{{- $source := $given.existingSecret | default $root.Values.secrets.existingSecret -}}
{{- if and (has $component $rule.to) (not (has $name $unused)) (or $given.value $source) }}
- name: {{ $rule.variable }}
  valueFrom:
    secretKeyRef:
      name: {{ ternary (include "platform.secretName" $root) $source (ne $given.value "") }}
      key: {{ ternary $rule.variable ($given.key | default $rule.variable) (ne $given.value "") }}
      {{- if not (or $given.value $given.existingSecret (has $name $required)) }}
      # The Secret for all may lack what is not needed.
      optional: true
      {{- end }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Variables of the models, for core and worker. */ -}}
{{- define "platform.modelEnv" -}}
{{- $models := .Values.models -}}
{{- $source := $models.existingSecret | default .Values.secrets.existingSecret -}}
{{- range $name, $value := $models.env }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end }}
{{- range $models.variables }}
- name: {{ . }}
  valueFrom: { secretKeyRef: { name: {{ $source }}, key: {{ . }} } }
{{- end }}
{{- range $name, $value := $models.values }}
- name: {{ $name }}
  valueFrom: { secretKeyRef: { name: {{ include "platform.secretName" $ }}, key: {{ $name }} } }
{{- end }}
{{- if $models.credentialsFile.existingSecret }}
- { name: GOOGLE_APPLICATION_CREDENTIALS, value: /etc/platform-models/{{ $models.credentialsFile.key }} }
{{- end }}
{{- end -}}
