{{- /* The iac service, in a pod of its own or beside a worker. */ -}}
{{- define "platform.iacContainer" -}}
{{- $iac := .Values.iac -}}
- name: iac
  image: {{ include "platform.image" (dict "root" . "image" "iac") }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  {{- if eq $iac.placement "worker" }}
  # It stays beside the worker: it starts before it and stops after it.
  restartPolicy: Always
  {{- end }}
  securityContext:
    {{- include "platform.containerSecurity" . | nindent 4 }}
    # Another user than that of the worker, whose git directories it must not write.
    runAsUser: 10003
    {{- if $iac.sandboxPrivileges }}
    seccompProfile: { type: Unconfined }
    appArmorProfile: { type: Unconfined }
    procMount: Unmasked
    {{- end }}
  ports:
    - { name: iac, containerPort: 8082 }
  env:
    - { name: HOME, value: /tmp }
    - { name: PLATFORM_HOST, value: {{ ternary "127.0.0.1" "0.0.0.0" (eq $iac.placement "worker") }} }
    - { name: PLATFORM_PORT, value: "8082" }
    - { name: IAC_WORKSPACE_ROOT, value: /workspaces }
    - { name: IAC_DATA_DIR, value: /data/iac }
    - { name: IAC_SANDBOX, value: {{ $iac.sandbox }} }
    - { name: IAC_MAX_PARALLEL, value: {{ $iac.maxParallel | int | quote }} }
    - { name: IAC_MAX_MEMORY_MIB, value: {{ $iac.maxMemoryMib | int | quote }} }
    - { name: IAC_MAX_WORKSPACE_MIB, value: {{ $iac.maxWorkspaceMib | int | quote }} }
    - { name: IAC_JOB_TIMEOUT_SECONDS, value: {{ $iac.jobTimeoutSeconds | int | quote }} }
    - { name: IAC_STOP_GRACE_SECONDS, value: {{ $iac.stopGraceSeconds | int | quote }} }
    {{- with $iac.binary }}
    - { name: IAC_BINARY, value: {{ . | quote }} }
    {{- end }}
    {{- with $iac.egressAllow }}
    - { name: IAC_EGRESS_ALLOW, value: {{ join "," . | quote }} }
    {{- end }}
    {{- with $iac.allowedProviders }}
    - { name: IAC_ALLOWED_PROVIDERS, value: {{ join "," . | quote }} }
    {{- end }}
    {{- with $iac.allowPrograms }}
    - { name: IAC_ALLOW_PROGRAMS, value: {{ join "," . | quote }} }
    {{- end }}
    {{- if $iac.moduleCredentials.existingSecret }}
    - { name: IAC_MODULE_CREDENTIALS, value: /etc/platform-modules/{{ $iac.moduleCredentials.key }} }
    {{- end }}
    {{- include "platform.caEnv" . | nindent 4 }}
    {{- include "platform.secretEnv" (dict "root" . "component" "iac") | nindent 4 }}
    {{- with $iac.extraEnv }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with $iac.existingSecrets }}
  envFrom:
    {{- range . }}
    - secretRef: { name: {{ . }} }
    {{- end }}
  {{- end }}
  {{- if eq $iac.placement "worker" }}
  # It listens on the loopback of the pod alone, where a probe by address finds nothing.
  startupProbe:
    exec: { command: [node, -e, "fetch('http://127.0.0.1:8082/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"] }
    periodSeconds: 5
    timeoutSeconds: 5
    failureThreshold: 60
  {{- else }}
  startupProbe:
    httpGet: { path: /healthz, port: iac }
    periodSeconds: 5
    failureThreshold: 60
  livenessProbe:
    httpGet: { path: /healthz, port: iac }
    periodSeconds: 20
    timeoutSeconds: 5
    failureThreshold: 6
  readinessProbe:
    httpGet: { path: /healthz, port: iac }
    periodSeconds: 5
    timeoutSeconds: 5
  {{- end }}
  resources: {{ toJson $iac.resources }}
  volumeMounts:
    - { name: workspaces, mountPath: /workspaces }
    - { name: iac-data, mountPath: /data }
    - { name: iac-tmp, mountPath: /tmp }
    {{- if $iac.moduleCredentials.existingSecret }}
    - { name: modules, mountPath: /etc/platform-modules, readOnly: true }
    {{- end }}
    {{- if $iac.sandboxPrivileges }}
    - { name: tun, mountPath: /dev/net/tun }
    {{- end }}
    {{- include "platform.caMount" . | nindent 4 }}
    {{- with $iac.extraVolumeMounts }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}

{{- /* Its volumes, without that of the workspaces. */ -}}
{{- define "platform.iacVolumes" -}}
{{- $iac := .Values.iac -}}
{{- if eq $iac.placement "worker" }}
{{ include "platform.emptyDir" (dict "name" "iac-data" "sizeLimit" $iac.data.sizeLimit) }}
{{- else }}
{{ include "platform.claimVolume" (dict "name" "iac-data" "claim" ($iac.data.existingClaim | default (printf "%s-iac" (include "platform.fullname" .)))) }}
{{- end }}
{{ include "platform.emptyDir" (dict "name" "iac-tmp" "sizeLimit" $iac.tmp.sizeLimit) }}
{{- with $iac.moduleCredentials }}
{{- if .existingSecret }}
- name: modules
  secret: { secretName: {{ .existingSecret }}, items: [{ key: {{ .key }}, path: {{ .key }} }], defaultMode: 0440 }
{{- end }}
{{- end }}
{{- if $iac.sandboxPrivileges }}
- name: tun
  hostPath: { path: /dev/net/tun, type: CharDevice }
{{- end }}
{{- with $iac.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- /* The folder of clones. */ -}}
{{- define "platform.workspacesVolume" -}}
{{- if eq .Values.iac.placement "worker" -}}
{{ include "platform.emptyDir" (dict "name" "workspaces" "sizeLimit" .Values.workspaces.sizeLimit) }}
{{- else -}}
{{ include "platform.claimVolume" (dict "name" "workspaces" "claim" (.Values.workspaces.existingClaim | default (printf "%s-workspaces" (include "platform.fullname" .)))) }}
{{- end -}}
{{- end -}}
