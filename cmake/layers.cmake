# Which folder of src/ may use which: the one table. CMake holds links to it, scripts/check-layers holds
# #include lines to it. `docs/architecture.md` says in a sentence what each folder is for.

set(MNET_LAYERS
  base json sys aio logfile yaml cni http skel plugin kube rtnl wire store confdir nodeconf manifests
  attach devices certs adapters shim daemon nodetools)

set(MNET_MAY_USE_base      "")
set(MNET_MAY_USE_json      base)
set(MNET_MAY_USE_sys       base)
set(MNET_MAY_USE_aio       base sys)
set(MNET_MAY_USE_logfile   base sys)
set(MNET_MAY_USE_yaml      base json)
set(MNET_MAY_USE_cni       base json)
set(MNET_MAY_USE_http      base sys aio)
set(MNET_MAY_USE_skel      base sys json cni)
set(MNET_MAY_USE_plugin    base sys json aio cni)
set(MNET_MAY_USE_kube      base sys json yaml aio http)
set(MNET_MAY_USE_rtnl      base sys aio)
set(MNET_MAY_USE_wire      base json cni)
set(MNET_MAY_USE_store     base sys json cni)
set(MNET_MAY_USE_confdir   base sys json cni)
set(MNET_MAY_USE_nodeconf  base sys json aio cni)
set(MNET_MAY_USE_manifests base sys json yaml aio)
set(MNET_MAY_USE_attach    base json aio cni)
set(MNET_MAY_USE_devices   base sys json aio http kube)
set(MNET_MAY_USE_certs     base sys json aio kube)
set(MNET_MAY_USE_adapters  base sys json aio logfile yaml cni http skel plugin kube rtnl wire store confdir nodeconf manifests
                           attach devices certs)
set(MNET_MAY_USE_shim      base sys json cni skel wire)
set(MNET_MAY_USE_daemon    ${MNET_MAY_USE_adapters} adapters)
set(MNET_MAY_USE_nodetools base sys json yaml aio cni kube)
