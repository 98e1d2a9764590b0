{{- /* The manifests and the patches of the overlays lie in files/, as scripts/manifests copies them. What kustomize does with
them is done here, so that both say the same. */ -}}

{{- /* Lays .from over .to: keys of objects one by one, two levels deep. (mergeOverwrite takes false for absent.) */ -}}
{{- define "multus.lay" -}}
{{- $to := .to -}}
{{- range $key, $value := .from -}}
{{- if and (kindIs "map" $value) (kindIs "map" (get $to $key)) -}}
{{- $inner := get $to $key -}}
{{- range $name, $one := $value }}{{ $_ := set $inner $name $one }}{{ end -}}
{{- else -}}
{{- $_ := set $to $key $value -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Lays .patch over .pod: volumes and containers by name, the mounts of a container are added. */ -}}
{{- define "multus.patchPod" -}}
{{- $pod := .pod -}}
{{- range $one := .patch.volumes -}}
{{- $known := false -}}
{{- range $there := $pod.volumes -}}
{{- if eq $there.name $one.name -}}{{- $known = true -}}{{- include "multus.lay" (dict "to" $there "from" $one) -}}{{- end -}}
{{- end -}}
{{- if not $known }}{{ $_ := set $pod "volumes" (append $pod.volumes $one) }}{{ end -}}
{{- end -}}
{{- range $one := .patch.containers -}}
{{- range $there := $pod.containers -}}
{{- if eq $there.name $one.name -}}
{{- $mounts := concat $there.volumeMounts (default list $one.volumeMounts) -}}
{{- include "multus.lay" (dict "to" $there "from" $one) -}}
{{- $_ := set $there "volumeMounts" $mounts -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- include "multus.lay" (dict "to" $pod "from" (omit .patch "volumes" "containers")) -}}
{{- end -}}

{{- define "multus.image" -}}
{{- $tag := default .Chart.AppVersion .Values.image.tag -}}
{{ .Values.image.repository }}:{{ $tag }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ end }}
{{- end -}}

{{- /* Our image and how it is pulled, for every container of .pod. */ -}}
{{- define "multus.useImage" -}}
{{- $root := .root -}}
{{- range $one := concat (default list .pod.initContainers) .pod.containers -}}
{{- $_ := set $one "image" (include "multus.image" $root) -}}
{{- $_ := set $one "imagePullPolicy" $root.Values.image.pullPolicy -}}
{{- end -}}
{{- if $root.Values.image.pullSecrets }}{{ $_ := set .pod "imagePullSecrets" $root.Values.image.pullSecrets }}{{ end -}}
{{- end -}}

{{- define "multus.certificates" -}}
{{- if or .Values.certApprover.enabled .Values.hardened }}yes{{ end -}}
{{- end -}}

{{- /* The patches of the distribution's overlay, as {"list": [...]}; none for kubeadm. */ -}}
{{- define "multus.distribution" -}}
{{- $found := list -}}
{{- $file := .Files.Get (printf "files/distro-%s.yaml" .Values.distro) -}}
{{- range $one := (fromYaml $file).patches }}{{ $found = append $found (fromYaml $one.patch) }}{{ end -}}
{{- toYaml (dict "list" $found) -}}
{{- end -}}
