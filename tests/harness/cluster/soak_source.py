"""Pods and definitions of a soak (tests/harness/node/soak.py) in a real API server that is away at times."""

import json

from harness.cluster.kube_node import KUBECONFIG, KubeNode
from harness.net.api_proxy import ApiProxy, listen_in
from harness.node.daemon import default_config


class ApiObjects:
    kept_sockets = 10  # eight for requests, and two watches

    def __init__(self, host, space):
        self.space, self.namespace = space, space.namespace
        self.env = {"MULTUS_NODE_NAME": space.node}
        self.proxy = ApiProxy(space.cluster, listen_in(host.pid))
        KubeNode(host, None, None, space, self.proxy)  # logs in

    def config(self):
        return default_config(objectsDir=None, kubeconfig=KUBECONFIG, podLookupTimeout=None)

    def add_network(self, name, config):
        self.space.add_network(name, json.dumps(config))

    def add_pod(self, name, networks):
        return self.space.add_pod(name, networks=networks)["metadata"]["uid"]

    def faults(self):
        return {"API away": self.go_away, "API silent": self.be_silent, "API cut": self.cut}

    def go_away(self, rng, over):
        self.proxy.refuse("", 503)
        self.proxy.cut()
        over.wait(rng.uniform(0.1, 1.0))
        self.proxy.rules.clear()

    def be_silent(self, rng, over):
        self.proxy.flowing.clear()
        over.wait(rng.uniform(0.1, 1.0))
        self.proxy.flowing.set()

    def cut(self, rng, over):
        while not over.wait(rng.uniform(0.05, 0.3)):
            self.proxy.cut()

    def close(self):
        self.proxy.close()
