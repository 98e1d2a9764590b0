# Which folder of src/ may use which: the one table. CMake holds links to it, scripts/checks/layers holds
# #include lines to it. `docs/architecture.md` says in a sentence what each folder is for.

set(MNET_LAYERS
  base json sys aio logfile yaml cni jsonpath http model skel plugin kube rtnl wire store confdir nodeconf manifests
  chain devices certs settings lint attach hotplug status upkeep admission adapters ledger handover nodetools metrics selfcheck
  shim daemon thin thin_entrypoint install passthru cni_node kube_watch cert_approver kubeconfig_generator
  multusctl)

# Vocabulary; kernel handles; JSON.
set(MNET_MAY_USE_base      "")
set(MNET_MAY_USE_json      base)
set(MNET_MAY_USE_sys       base)
# Owned tasks; CNI data; text formats.
set(MNET_MAY_USE_aio       base sys)
set(MNET_MAY_USE_logfile   base sys)
set(MNET_MAY_USE_yaml      base json)
set(MNET_MAY_USE_cni       base json)
set(MNET_MAY_USE_jsonpath  base json)
# Transport; what Multus's texts mean.
set(MNET_MAY_USE_http      base sys aio)
set(MNET_MAY_USE_model     base json cni)
# One outside system each.
set(MNET_MAY_USE_skel      base sys json cni)
set(MNET_MAY_USE_plugin    base sys json aio cni)
set(MNET_MAY_USE_kube      base sys json yaml aio http model)
set(MNET_MAY_USE_rtnl      base sys aio)
set(MNET_MAY_USE_wire      base json cni)
set(MNET_MAY_USE_store     base sys json cni model)
set(MNET_MAY_USE_confdir   base sys json cni)
set(MNET_MAY_USE_nodeconf  base sys json aio cni)
set(MNET_MAY_USE_manifests base sys json yaml aio model)
# On top of outside systems.
set(MNET_MAY_USE_chain     base json aio cni model)
set(MNET_MAY_USE_devices   base sys json aio http kube)
set(MNET_MAY_USE_certs     base sys json aio kube)
set(MNET_MAY_USE_settings  base sys json logfile cni model wire devices)
# What ADD would say.
set(MNET_MAY_USE_lint      base json yaml cni model settings)
# What ADD, DEL, CHECK, GC and STATUS mean.
set(MNET_MAY_USE_attach    base json aio cni model chain)
set(MNET_MAY_USE_hotplug   base json aio cni model chain attach)
set(MNET_MAY_USE_status    base json aio cni model chain attach)
set(MNET_MAY_USE_upkeep    base json aio cni model chain attach)
# What several programs share; who may run when.
set(MNET_MAY_USE_admission base aio cni model chain attach)
set(MNET_MAY_USE_adapters  base sys json aio logfile yaml cni http skel plugin kube rtnl wire store confdir nodeconf manifests
                           model chain attach devices certs)
set(MNET_MAY_USE_handover  base sys aio http nodeconf attach)
set(MNET_MAY_USE_nodetools base sys json aio kube http)
set(MNET_MAY_USE_ledger    base sys json)
set(MNET_MAY_USE_metrics   base sys aio http store)
set(MNET_MAY_USE_selfcheck base sys json store nodeconf)
# Programs.
set(MNET_MAY_USE_shim      base sys json cni skel wire store)
set(MNET_MAY_USE_daemon    ${MNET_MAY_USE_adapters} settings hotplug status upkeep admission adapters handover metrics selfcheck)
set(MNET_MAY_USE_thin      ${MNET_MAY_USE_adapters} settings upkeep adapters)
set(MNET_MAY_USE_thin_entrypoint base sys json aio cni nodeconf)
set(MNET_MAY_USE_install   base sys)
set(MNET_MAY_USE_passthru  base json cni skel)
set(MNET_MAY_USE_cni_node  base sys json yaml aio cni kube ledger nodetools)
set(MNET_MAY_USE_kube_watch base sys json aio jsonpath kube nodetools)
set(MNET_MAY_USE_cert_approver base sys json aio http kube certs)
set(MNET_MAY_USE_kubeconfig_generator base sys aio kube nodeconf certs)
set(MNET_MAY_USE_multusctl ${MNET_MAY_USE_adapters} settings lint adapters nodetools)
