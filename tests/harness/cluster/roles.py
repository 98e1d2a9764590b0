"""What accounts may do."""

# Of the original's ClusterRole.
UPSTREAM_RULES = [
    {"apiGroups": ["k8s.cni.cncf.io"], "resources": ["*"], "verbs": ["*"]},
    {"apiGroups": [""], "resources": ["pods", "pods/status"], "verbs": ["get", "list", "update", "watch"]},
    {"apiGroups": ["", "events.k8s.io"], "resources": ["events"], "verbs": ["create", "patch", "update"]}]

# Reads everything and writes nothing.
READ_ONLY = [{**rule, "verbs": ["get", "list", "watch"]} for rule in UPSTREAM_RULES if rule["resources"] != ["events"]]
