# Becomes the first process of a test's "host": runs in fresh network, mount, PID and IPC namespaces and
# gives them a face of their own. The machine's /etc, /opt and /var lie below an overlay, so that what is
# written there stays in the namespace; /run and /srv are empty. Ends when its stdin does.
#   $1  folder with the programs under test, seen as /run/programs
#   $2  "cgroups": keep the machine's cgroup mounts (container runtimes need them)
set -e
programs=$1
mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/lock /run/programs /run/cgroup
mount --bind "$programs" /run/programs
[ "$2" != cgroups ] || mount --rbind /sys/fs/cgroup /run/cgroup
mount -t sysfs sysfs /sys
[ "$2" != cgroups ] || mount --rbind /run/cgroup /sys/fs/cgroup
umount -l /run/cgroup 2>/dev/null || true
rmdir /run/cgroup
mount -t proc proc /proc
mount -t tmpfs -o mode=755 tmpfs /srv
for d in etc opt var; do
  mkdir -p /srv/.overlay/$d/upper /srv/.overlay/$d/work
  mount -t overlay overlay \
    -o lowerdir=/$d,upperdir=/srv/.overlay/$d/upper,workdir=/srv/.overlay/$d/work /$d
done
# What the machine's packages put there is not part of a test.
rm -rf /etc/cni /opt/cni /var/lib/cni
ip link set lo up
echo ready
# Orphans (a delegate that outlives its daemon) become our children; ignored, they need no reaping.
trap '' CHLD
exec cat >/dev/null
