{{- define "platform.ports" -}}
ports:
  {{- range . }}
  - { port: {{ int . }}, protocol: TCP }
  {{- end }}
{{- end -}}

{{- /* A rule of egress to given peers: {to, ports}. */ -}}
{{- define "platform.egress" -}}
{{- if .ports }}
- {{ include "platform.ports" .ports | nindent 2 | trim }}
  {{- with .to }}
  to: {{ toJson . }}
  {{- end }}
{{- end }}
{{- end -}}

{{- define "platform.publicEgress" -}}
{{- with .Values.networkPolicies.public }}
- to:
    - ipBlock: { cidr: 0.0.0.0/0, except: {{ toJson .except }} }
    - ipBlock: { cidr: "::/0", except: {{ toJson .exceptV6 }} }
  {{- include "platform.ports" .ports | nindent 2 }}
{{- end }}
{{- end -}}

{{- /* A rule of egress to a component of this release: {root, component, port}. */ -}}
{{- define "platform.ownEgress" -}}
- to:
    - podSelector: { matchLabels: { {{ include "platform.selector" . | replace "\n" ", " }} } }
  {{- include "platform.ports" (list .port) | nindent 2 }}
{{- end -}}

{{- /* A rule of ingress from components of this release: {root, from, port}. */ -}}
{{- define "platform.ownIngress" -}}
- from:
    {{- range .from }}
    - podSelector: { matchLabels: { {{ include "platform.selector" (dict "root" $.root "component" .) | replace "\n" ", " }} } }
    {{- end }}
  {{- include "platform.ports" (list .port) | nindent 2 }}
{{- end -}}

{{- define "platform.networkPolicy" -}}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ include "platform.fullname" .root }}-{{ .component }}
  labels:
    {{- include "platform.labels" . | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      {{- include "platform.selector" . | nindent 6 }}
  policyTypes: [Ingress, Egress]
{{- end -}}
