#!/bin/sh
# Run in the root of a fresh Debian 12, in namespaces of its own: what README says for one machine, up to a container with two
# networks and back. BIN has the daemon, CNI the plugins, CONFIG is the daemon's configuration.
#   use.sh BIN CNI CONFIG [files]     files: the networks are there already, those of README
set -eu
bin=$1 cni=$2 config=$3 networks=${4:-ours}
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /run
ip link set lo up

first=10.70.0. second=10.71.0. arguments=
if [ "$networks" = ours ]; then
first=10.9.0. second=10.8.0. arguments="IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web;K8S_POD_UID=u1"
echo '{"cniVersion":"1.0.0","name":"first","type":"bridge","bridge":"br0","ipam":{"type":"host-local","subnet":"10.9.0.0/24"}}' >/etc/cni/net.d/10-first.conf
cat >/etc/cni/multus/objects/web.yaml <<EOF
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {name: second, namespace: default}
spec:
  config: '{"cniVersion":"1.0.0","type":"bridge","bridge":"br1","ipam":{"type":"host-local","subnet":"10.8.0.0/24"}}'
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: default, uid: u1, annotations: {k8s.v1.cni.cncf.io/networks: second}}
EOF
fi

"$bin/multus-daemon" -config "$config" 2>/tmp/daemon.log &
daemon=$!
tries=0
until [ -e /etc/cni/net.d/00-multus.conf ]; do
  tries=$((tries + 1))
  [ $tries -lt 300 ] || { cat /tmp/daemon.log; exit 1; }
  sleep 0.1
done

ip netns add pod
inside() {  # `ip -n` wants / to be a mount point
  nsenter --net=/run/netns/pod "$@"
}
call() {
  CNI_COMMAND=$1 CNI_CONTAINERID=c1 CNI_NETNS=/run/netns/pod CNI_IFNAME=eth0 CNI_PATH=$cni:/usr/lib/cni \
    CNI_ARGS=$arguments \
    "$cni/multus-shim" </etc/cni/net.d/00-multus.conf
}
call ADD
inside ip -br address show
inside ip -br address show eth0 | grep -q "$first"
inside ip -br address show net1 | grep -q "$second"
call DEL
[ "$(inside ip -br link show | grep -c 'eth0\|net1')" = 0 ]
kill -TERM $daemon
wait $daemon
"$bin/multus-daemon" -uninstall -config "$config"
[ ! -e /etc/cni/net.d/00-multus.conf ]
rm -f /etc/cni/net.d/10-first.conf /etc/cni/multus/objects/web.yaml
echo "a container with two networks: ok"
