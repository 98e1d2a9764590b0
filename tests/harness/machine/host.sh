# Becomes the first process of a test's "host": runs in fresh network, mount, PID and IPC namespaces and
# gives them a root of their own. The machine's root lies below an overlay, so that whatever is written
# stays in the namespace; /run and /srv are empty. Ends when its stdin does.
#   $1  folder with the programs under test, seen as /run/programs; the tools beside it are seen as /run/tools
#   $2  "cgroups": keep the machine's cgroup mounts (container runtimes need them)
#   $3  "", or a folder for what outlives this host: a whole node that can be booted again
#   $4  and on: folders of the machine that are seen at the same place
set -e
mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs /run
mkdir /run/upper /run/work /run/root
mount -t overlay overlay -o lowerdir=/,upperdir=/run/upper,workdir=/run/work /run/root
cd /run/root
mount -t proc proc proc
mount -t sysfs sysfs sys
[ "$2" != cgroups ] || mount --rbind /sys/fs/cgroup sys/fs/cgroup
mount --rbind /dev dev
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=755 tmpfs srv
mkdir run/lock run/programs run/tools
mount --bind "$1" run/programs
[ ! -d "$1/../tools" ] || mount --bind "$1/../tools" run/tools
# Where programs of a coverage build add up what they ran.
[ ! -d "$1/../profiles" ] || mount --bind "$1/../profiles" ".$(realpath "$1/../profiles")"
# What the machine's packages put there is not part of a test.
rm -rf etc/cni opt/cni var/lib/cni
if [ -n "$3" ]; then
  for kept in etc/cni etc/kubernetes opt/cni var/lib/cni var/lib/kubelet var/lib/containerd; do
    mkdir -p "$3/$kept" "$kept"
    mount --bind "$3/$kept" "$kept"
  done
fi
for folder in "${@:4}"; do
  mkdir -p ".$folder"
  mount --bind "$folder" ".$folder"
done
pivot_root . mnt
umount -l /mnt
# Mounts with propagation, as pods of a node ask for, stay among the mount namespaces of this host.
[ -z "$3" ] || mount --make-rshared /
ip link set lo up
echo ready
# Orphans (a delegate that outlives its daemon) become our children; ignored, they need no reaping.
# (bash hands this down to cat; dash does not.)
trap '' CHLD
exec cat >/dev/null
