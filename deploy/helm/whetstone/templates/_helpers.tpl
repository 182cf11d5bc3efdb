{{/* Names, labels, and the pod template of all servers. */}}

{{- define "whetstone.fullname" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{/* (root, role) */}}
{{- define "whetstone.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .role }}
{{- end }}

{{- define "whetstone.labels" -}}
{{ include "whetstone.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{- define "whetstone.secretName" -}}
{{ .Values.existingSecret | default (include "whetstone.fullname" .) }}
{{- end }}

{{/* Paths that sample (/e: those of episodes); all others go to the api role. A test compares this list with the API. */}}
{{- define "whetstone.servePaths" -}}
- /e
- /inference/v1/generate
- /v1/chat/completions
- /v1/completions
- /v1/embeddings
- /v1/messages
- /v1/responses
- /tokenize
- /tokenizer_info
- /detokenize
- /tinker/api/v1/asample
{{- end }}

{{/* A stop takes up to 7 seconds more than the longer of both limits (docs/operations.md), plus 3 for a slow machine. */}}
{{- define "whetstone.graceSeconds" -}}
{{- $drain := .Values.config.WHETSTONE_DRAIN_SECONDS | default 20 | int }}
{{- $step := .Values.config.WHETSTONE_STEP_SECONDS | default 22 | int }}
{{- add (max $drain $step) 10 .Values.preStopSeconds }}
{{- end }}

{{/* (root, role, settings): the template of a Deployment or StatefulSet; `claim` names the volume claim of a StatefulSet. */}}
{{- define "whetstone.pod" -}}
{{- $values := .root.Values -}}
metadata:
  labels:
    {{- include "whetstone.selector" . | nindent 4 }}
    {{- with $values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    checksum/secret: {{ $values.secret | toJson | sha256sum }}
    {{- with $values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false # otherwise a Service named whetstone sets WHETSTONE_PORT to tcp://…
  terminationGracePeriodSeconds: {{ include "whetstone.graceSeconds" .root }}
  {{- with $values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 1000
    runAsGroup: 1000
    fsGroup: 1000
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: { type: RuntimeDefault }
  containers:
    - name: whetstone
      image: {{ printf "%s:%s" $values.image.repository ($values.image.tag | default .root.Chart.AppVersion) | quote }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      args:
        - serve
        - --host=0.0.0.0
        {{- if ne .role "single" }}
        - --role={{ .role }}
        {{- end }}
        {{- range $values.models }}
        - {{ printf "--model=%s" . | quote }}
        {{- end }}
        {{- range $values.workerModels }}
        - {{ printf "--worker-model=%s" . | quote }}
        {{- end }}
        {{- range $values.args }}
        - {{ . | quote }}
        {{- end }}
      env:
        # A directory of the server's own inside the volume, whose root directory belongs to root.
        - { name: WHETSTONE_DATA, value: /var/lib/whetstone/data }
        {{- range $name, $value := $values.config }}
        {{- /* Helm reads numbers as floating-point ones, and would write 5e+06. */}}
        {{- $whole := and (kindIs "float64" $value) (eq (floor $value) $value) }}
        - { name: {{ $name }}, value: {{ ternary (int64 $value | toString) (toString $value) $whole | quote }} }
        {{- end }}
      envFrom:
        - secretRef: { name: {{ include "whetstone.secretName" .root }} }
      ports:
        - { name: http, containerPort: 8484 }
      startupProbe:
        httpGet: { path: /v1/health, port: http }
        periodSeconds: 5
        failureThreshold: {{ div (add $values.startSeconds 4) 5 }}
      readinessProbe:
        httpGet: { path: /v1/health, port: http }
        periodSeconds: 5
        timeoutSeconds: 5
      livenessProbe:
        httpGet: { path: /v1/health, port: http }
        periodSeconds: 10
        timeoutSeconds: 10
        failureThreshold: 12 # two minutes: a machine that is short of memory becomes slow before it dies
      {{- if $values.preStopSeconds }}
      lifecycle:
        preStop: { exec: { command: [sleep, {{ $values.preStopSeconds | quote }}] } }
      {{- end }}
      resources:
        {{- toYaml .settings.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
      volumeMounts:
        - { name: data, mountPath: /var/lib/whetstone }
        - { name: models, mountPath: /var/cache/whetstone }
        - { name: tmp, mountPath: /tmp }
        {{- with $values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    {{- if ne .role "single" }}
    - { name: data, emptyDir: {} } # copies of data in Postgres and the blob store, and prepared weights
    {{- end }}
    {{- if $values.modelsClaim }}
    - { name: models, persistentVolumeClaim: { claimName: {{ $values.modelsClaim }} } }
    {{- else }}
    - { name: models, emptyDir: {} }
    {{- end }}
    - { name: tmp, emptyDir: {} }
    {{- with $values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with .settings.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .settings.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .settings.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
