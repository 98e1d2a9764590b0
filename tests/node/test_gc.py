"""GC over every network of every pod, by what the runtime still knows (02, 7.3; pain 8)."""

import threading

import pytest
from harness.node import networks


def collect(node, *keep, key="cni.dev/valid-attachments", conf=None):
    valid = [{"containerID": pod.container_id, "ifname": "eth0"} for pod in keep]
    return node.shim.gc({**(conf or node.conf), "cniVersion": "1.1.0", key: valid})


@pytest.fixture
def mixed(node, fake):
    """A cluster network that knows GC, one secondary that does and one that does not, each with three pods. None gives addresses: what
    a living pod holds would not be taken from it."""
    node.configure(fake.conf("cluster", version="1.1.0"))
    node.network("new", fake.conf("new", version="1.1.0"))
    node.network("old", fake.conf("old", version="0.3.1"))
    pods = [node.pod("new,old") for _ in range(3)]
    for pod in pods:
        assert pod.add().ok
    return pods


@pytest.mark.spec("02:140", "02:142", "01:X25")
def test_what_the_runtime_no_longer_knows_is_deleted_in_every_network(node, fake, mixed):
    keep, *drop = mixed

    assert collect(node, keep).ok

    assert all(pod.remembered() == [] for pod in drop) and len(keep.remembered()) == 5
    deleted = sorted((call.env["CNI_CONTAINERID"], call.network, call.env["CNI_IFNAME"]) for call in fake.calls("DEL"))
    assert deleted == sorted((pod.container_id, network, ifname) for pod in drop
                             for network, ifname in (("cluster", "eth0"), ("new", "net1"), ("old", "net2")))
    assert {call.env["CNI_NETNS"] for call in fake.calls("DEL")} == {""}
    assert sorted(call.network for call in fake.calls("GC")) == ["cluster", "new"]  # 0.3.1 knows none
    for call in fake.calls("GC"):
        for key in ("cni.dev/valid-attachments", "cni.dev/attachments"):
            assert {(one["containerID"], one["ifname"]) for one in call.conf[key]} \
                == {(keep.container_id, ifname) for ifname in ("eth0", "net1", "net2")}


@pytest.mark.spec("01:X26")
def test_networks_that_the_configuration_no_longer_names_stay_with_their_pods(node, fake, mixed):
    """The container decides, not the network (02, 7.3)."""
    other = node.configure(fake.network("another", version="1.1.0"))

    assert collect(node, *mixed, conf=other).ok

    assert fake.calls("DEL") == [] and all(len(pod.remembered()) == 5 for pod in mixed)
    assert sorted({call.network for call in fake.calls("GC")}) == ["another", "cluster", "new"]


@pytest.mark.spec("02:141")
def test_without_a_list_nothing_is_touched(node, fake, mixed):
    """Never on a partial list."""
    assert node.shim.gc({**node.conf, "cniVersion": "1.1.0"}).ok

    assert fake.calls("DEL") == [] and fake.calls("GC") == []
    assert all(len(pod.remembered()) == 5 for pod in mixed)


def test_a_list_of_the_wrong_type_touches_nothing(node, fake, mixed):
    outcome = node.shim.gc({**node.conf, "cniVersion": "1.1.0", "cni.dev/valid-attachments": [5]})

    assert not outcome.ok
    assert fake.calls("DEL") == [] and fake.calls("GC") == []


def test_the_key_of_the_older_specification_counts_too(node, fake, mixed):
    assert collect(node, *mixed[:2], key="cni.dev/attachments").ok

    assert {call.env["CNI_CONTAINERID"] for call in fake.calls("DEL")} == {mixed[2].container_id}


def test_errors_do_not_stop_it_and_the_next_time_finishes(node, fake):
    node.configure(fake.network("cluster", version="1.1.0", DEL={"error": {"code": 7, "msg": "not yet"}, "first": 1}))
    node.network("n", fake.network("n", version="1.1.0"))
    pods = [node.pod("n") for _ in range(2)]
    for pod in pods:
        assert pod.add().ok

    assert "not yet" in collect(node).error["msg"]

    assert len(fake.calls("DEL", "n")) == 2 and len(fake.calls("DEL", "cluster")) == 2
    assert collect(node).ok
    assert all(pod.remembered() == [] for pod in pods)


def test_real_addresses_of_all_networks_are_given_back(host, node):
    """Pain 8: nothing is found by exhaustion."""
    host.add_bridge("nodebr")
    node.network("mac1", networks.macvlan(subnet6="fd00:10::/64"))
    keep, drop = node.pod("mac1"), node.pod("mac1")
    for pod in (keep, drop):
        assert pod.add().ok

    assert collect(node, keep).ok

    held = [name for name in host.files_below("/var/lib/cni/networks") if name.split("/")[1][0] in "1f"]
    assert sorted(held) == ["cluster/10.244.0.2", "mac1/10.10.1.2", "mac1/fd00:10::2"]
    drop.remove()
    node.sandboxes.remove(drop)
    assert keep.check().ok


@pytest.mark.spec("02:143")
def test_a_pod_that_is_being_added_is_left_alone(node, fake):
    gate = fake.gate()
    node.configure(fake.network("cluster", version="1.1.0"))
    node.network("slow", fake.network("slow", version="1.1.0", ADD={"gate": gate.path}))
    pod, done = node.pod("slow"), []
    adding = threading.Thread(target=lambda: done.append(pod.add()))
    adding.start()
    gate.reached()

    assert collect(node).ok

    assert fake.calls("DEL") == []
    gate.open()
    adding.join()
    assert done[0].ok
