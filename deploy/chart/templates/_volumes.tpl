{{- /* Files that core and worker read: {root}. */ -}}
{{- define "platform.fileMounts" -}}
- { name: config, mountPath: /etc/platform, readOnly: true }
{{- if .Values.models.credentialsFile.existingSecret }}
- { name: models, mountPath: /etc/platform-models, readOnly: true }
{{- end }}
{{- end -}}

{{- define "platform.fileVolumes" -}}
- name: config
  configMap: { name: {{ include "platform.fullname" . }}-config }
{{- with .Values.models.credentialsFile }}
{{- if .existingSecret }}
- name: models
  secret: { secretName: {{ .existingSecret }}, items: [{ key: {{ .key }}, path: {{ .key }} }], defaultMode: 0440 }
{{- end }}
{{- end }}
{{- end -}}

{{- /* Certificate authorities, for every process. */ -}}
{{- define "platform.caMount" -}}
{{- if .Values.caCertificates.existingConfigMap }}
- { name: ca, mountPath: /etc/platform-ca, readOnly: true }
{{- end }}
{{- end -}}

{{- define "platform.caVolume" -}}
{{- with .Values.caCertificates.existingConfigMap }}
- name: ca
  configMap: { name: {{ . }} }
{{- end }}
{{- end -}}

{{- define "platform.caEnv" -}}
{{- if .Values.caCertificates.existingConfigMap }}
- { name: NODE_EXTRA_CA_CERTS, value: /etc/platform-ca/{{ .Values.caCertificates.key }} }
{{- end }}
{{- end -}}

{{- /* A volume of a claim: {name, claim}. */ -}}
{{- define "platform.claimVolume" -}}
- name: {{ .name }}
  persistentVolumeClaim: { claimName: {{ .claim }} }
{{- end -}}

{{- define "platform.emptyDir" -}}
- name: {{ .name }}
  emptyDir: { sizeLimit: {{ .sizeLimit }} }
{{- end -}}
