{{- define "platform.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* What selects the pods of a component: {root, component}. */ -}}
{{- define "platform.selector" -}}
app.kubernetes.io/name: platform
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "platform.labels" -}}
{{ include "platform.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- /* Name of the image: {root, image}. That of the core depends on its runtime. Images have their commands in them. */ -}}
{{- define "platform.image" -}}
{{- $given := index .root.Values.image .image -}}
{{- $target := .image -}}
{{- if and (eq .image "core") (ne .root.Values.core.runtime "node") -}}{{- $target = printf "core-%s" .root.Values.core.runtime -}}{{- end -}}
{{- $registry := .root.Values.image.registry -}}
{{- if and $registry (not (hasSuffix "/" $registry)) -}}{{- $registry = printf "%s/" $registry -}}{{- end -}}
{{- $registry }}{{ $given.repository | default (printf "platform-%s" $target) }}:{{ $given.tag | default .root.Chart.AppVersion }}{{ with $given.digest }}@{{ . }}{{ end -}}
{{- end -}}

{{- /* Account of a component: {root, component, given}. */ -}}
{{- define "platform.serviceAccount" -}}
{{- .given.name | default (ternary (printf "%s-%s" (include "platform.fullname" .root) .component) "default" .given.create) -}}
{{- end -}}

{{- /* Restrictions of a pod: {root, user, seccompProfile}. */ -}}
{{- define "platform.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ .user }}
runAsGroup: {{ .root.Values.podSecurity.group }}
fsGroup: {{ .root.Values.podSecurity.group }}
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {{ toJson (.seccompProfile | default .root.Values.podSecurity.seccompProfile) }}
{{- end -}}

{{- define "platform.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{- /* Where pods of a component run: {root, component, given}. */ -}}
{{- define "platform.placement" -}}
{{- with .given.nodeSelector }}
nodeSelector: {{ toJson . }}
{{- end }}
{{- with .given.tolerations }}
tolerations: {{ toJson . }}
{{- end }}
{{- with .given.affinity }}
affinity: {{ toJson . }}
{{- end }}
{{- with .given.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets: {{ toJson . }}
{{- end }}
{{- end -}}

{{- define "platform.spread" -}}
{{- $spread := .root.Values.topologySpread -}}
{{- if $spread.enabled }}
topologySpreadConstraints:
  {{- range ternary (list "kubernetes.io/hostname" "topology.kubernetes.io/zone") (list "kubernetes.io/hostname") $spread.zones }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: {{ $spread.whenUnsatisfiable }}
    labelSelector:
      matchLabels:
        {{- include "platform.selector" $ | nindent 8 }}
    # Pods of the version before are not counted during a rollout.
    matchLabelKeys: [pod-template-hash]
  {{- end }}
{{- end }}
{{- end -}}

{{- /* Annotations of a pod, by which a changed file or secret of the chart restarts it: {root, given}. */ -}}
{{- define "platform.podAnnotations" -}}
checksum/config: {{ include (print .root.Template.BasePath "/config.yaml") .root | sha256sum }}
checksum/secrets: {{ include (print .root.Template.BasePath "/secret.yaml") .root | sha256sum }}
{{- with .given.podAnnotations }}
{{ toYaml . }}
{{- end }}
{{- end -}}
