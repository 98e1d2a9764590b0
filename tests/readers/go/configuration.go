package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/containernetworking/cni/libcni"
	cni "github.com/containernetworking/cni/pkg/types"
	cni100 "github.com/containernetworking/cni/pkg/types/100"
	"github.com/containernetworking/cni/pkg/types/create"
	"github.com/containernetworking/cni/pkg/version"
	"gopkg.in/k8snetworkplumbingwg/multus-cni.v4/pkg/k8sclient"
	"gopkg.in/k8snetworkplumbingwg/multus-cni.v4/pkg/server"
	"gopkg.in/k8snetworkplumbingwg/multus-cni.v4/pkg/server/config"
	"gopkg.in/k8snetworkplumbingwg/multus-cni.v4/pkg/types"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (r reading) text(key, value string) {
	if value != "" {
		r[key] = value
	}
}

func (r reading) flag(key string, value bool) {
	if value {
		r[key] = true
	}
}

func (r reading) list(key string, values []string) {
	if len(values) > 0 {
		r[key] = values
	}
}

// The annotation `k8s.v1.cni.cncf.io/networks` of a pod in the namespace `ns`.
func readNetworks(text []byte) (any, error) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace:   "ns",
		Annotations: map[string]string{"k8s.v1.cni.cncf.io/networks": string(text)},
	}}
	networks, err := k8sclient.GetPodNetwork(pod)
	if _, isNone := err.(*k8sclient.NoK8sNetworkError); isNone {
		return []any{}, nil
	}
	if err != nil {
		return nil, err
	}
	list := []any{}
	for _, network := range networks {
		element, err := readElement(network)
		if err != nil {
			return nil, err
		}
		list = append(list, element)
	}
	return list, nil
}

func readElement(network *types.NetworkSelectionElement) (any, error) {
	out := reading{"name": network.Name, "namespace": network.Namespace}
	out.text("interface", network.InterfaceRequest)
	out.text("mac", network.MacRequest)
	out.text("infiniband-guid", network.InfinibandGUIDRequest)
	out.text("deviceID", network.DeviceID)
	if network.IPRequest != nil {
		out["ips"] = network.IPRequest
	}
	if network.PortMappingsRequest != nil {
		out["portMappings"] = network.PortMappingsRequest
	}
	if network.BandwidthRequest != nil {
		out["bandwidth"] = network.BandwidthRequest
	}
	if network.CNIArgs != nil {
		out["cni-args"] = *network.CNIArgs
	}
	if network.GatewayRequest != nil {
		out["default-route"] = *network.GatewayRequest
	}
	return generic(out)
}

// A delegate's configuration: what the original's core takes from it, and what libcni would run.
func readDelegate(text []byte) (any, error) {
	delegate, err := types.LoadDelegateNetConf(text, nil, "", "")
	if err != nil {
		return nil, err
	}
	return readLoadedDelegate(delegate)
}

// One that cannot be run is as good as refused.
func readLoadedDelegate(delegate *types.DelegateNetConf) (any, error) {
	out := reading{}
	out.text("name", delegate.Name)
	out.flag("isList", delegate.ConfListPlugin)
	if delegate.ConfListPlugin {
		types := []string{}
		for _, plugin := range delegate.ConfList.Plugins {
			types = append(types, plugin.Type)
		}
		out["types"] = types
	} else {
		out["types"] = []string{delegate.Conf.Type}
	}
	if delegate.ConfListPlugin {
		list, err := libcni.ConfListFromBytes(delegate.Bytes)
		if err != nil {
			return nil, err
		}
		out["runs"] = readList(list)
		return out, nil
	}
	conf, err := libcni.ConfFromBytes(delegate.Bytes)
	if err != nil {
		return nil, err
	}
	run := reading{"plugins": []any{readPlugin(conf.Network)}}
	run.text("name", conf.Network.Name)
	run.text("cniVersion", conf.Network.CNIVersion)
	out["runs"] = run
	return out, nil
}

func readList(list *libcni.NetworkConfigList) reading {
	out := reading{}
	out.text("name", list.Name)
	out.text("cniVersion", list.CNIVersion)
	out.flag("disableCheck", list.DisableCheck)
	out.flag("disableGC", list.DisableGC)
	plugins := []any{}
	for _, plugin := range list.Plugins {
		plugins = append(plugins, readPlugin(plugin.Network))
	}
	out["plugins"] = plugins
	return out
}

func readPlugin(conf *cni.PluginConf) reading {
	out := reading{"type": conf.Type}
	out.text("ipam", conf.IPAM.Type)
	if len(conf.Capabilities) > 0 {
		out["capabilities"] = conf.Capabilities
	}
	return out
}

// LoadNetConf, which also sets up the log and would write to files that the text names.
func readNetConf(text []byte) (any, error) {
	conf := types.GetDefaultNetConf()
	if err := json.Unmarshal(text, conf); err != nil {
		return nil, err
	}
	out := reading{}
	out.text("cniVersion", conf.CNIVersion)
	out.text("name", conf.Name)
	out.text("type", conf.Type)
	out.text("clusterNetwork", conf.ClusterNetwork)
	out.list("defaultNetworks", conf.DefaultNetworks)
	out.text("kubeconfig", conf.Kubeconfig)
	out.text("logFile", conf.LogFile)
	out.text("logLevel", conf.LogLevel)
	out.flag("logToStderr", conf.LogToStderr)
	if conf.LogOptions != nil {
		out["logOptions"] = conf.LogOptions
	}
	if conf.RuntimeConfig != nil {
		out["runtimeConfig"] = conf.RuntimeConfig
	}
	out.text("readinessindicatorfile", conf.ReadinessIndicatorFile)
	out.flag("namespaceIsolation", conf.NamespaceIsolation)
	out.text("auxiliaryCNIChainName", conf.AuxiliaryCNIChainName)
	out.list("systemNamespaces", conf.SystemNamespaces)
	out.text("multusNamespace", conf.MultusNamespace)
	out.flag("retryDeleteOnError", conf.RetryDeleteOnError)
	// An empty path means the default one to us.
	defaults := types.GetDefaultNetConf()
	for key, path := range map[string][2]string{
		"confDir": {conf.ConfDir, defaults.ConfDir},
		"cniDir":  {conf.CNIDir, defaults.CNIDir},
		"binDir":  {conf.BinDir, defaults.BinDir},
	} {
		if path[0] == "" {
			path[0] = path[1]
		}
		out[key] = path[0]
	}
	namespaces := conf.NonIsolatedNamespaces
	if conf.RawNonIsolatedNamespaces != "" {
		namespaces = strings.Split(conf.RawNonIsolatedNamespaces, ",")
		for i := range namespaces {
			namespaces[i] = strings.TrimSpace(namespaces[i])
		}
	}
	out.list("globalNamespaces", namespaces)
	if err := readPrevious(conf, out); err != nil {
		return nil, err
	}
	if err := readDelegates(conf, out); err != nil {
		return nil, err
	}
	return generic(out)
}

func readPrevious(conf *types.NetConf, out reading) error {
	if conf.RawPrevResult == nil {
		return nil
	}
	text, err := json.Marshal(conf.RawPrevResult)
	if err != nil {
		return err
	}
	result, err := version.NewResult(conf.CNIVersion, text)
	if err != nil {
		return err
	}
	newest, err := cni100.NewResultFromResult(result)
	if err != nil {
		return err
	}
	out["prevResult"] = newest
	return nil
}

func readDelegates(conf *types.NetConf, out reading) error {
	if conf.ClusterNetwork != "" {
		return nil
	}
	if len(conf.RawDelegates) == 0 {
		return fmt.Errorf("at least one delegate/clusterNetwork must be specified")
	}
	delegates := []any{}
	for _, raw := range conf.RawDelegates {
		text, err := json.Marshal(raw)
		if err != nil {
			return err
		}
		delegate, err := types.LoadDelegateNetConf(text, nil, "", "")
		if err != nil {
			return err
		}
		read, err := readLoadedDelegate(delegate)
		if err != nil {
			return err
		}
		delegates = append(delegates, read)
	}
	out["delegates"] = delegates
	return nil
}

// A CNI result, by the version that it names.
func readResult(text []byte) (any, error) {
	result, err := create.CreateFromBytes(text)
	if err != nil {
		return nil, err
	}
	return generic(result)
}

// daemon-config.json, which the original reads into two structures.
func readDaemonConfig(text []byte) (any, error) {
	daemon := &server.ControllerNetConf{SocketDir: server.DefaultMultusRunDir}
	if err := json.Unmarshal(text, daemon); err != nil {
		return nil, err
	}
	multus := config.MultusConf{MultusConfigFile: "auto", Type: "multus-shim", CniConfigDir: "/etc/cni/net.d"}
	if err := json.Unmarshal(text, &multus); err != nil {
		return nil, err
	}
	out := reading{}
	out.text("chrootDir", daemon.ChrootDir)
	out.text("logFile", daemon.LogFile)
	out.text("logLevel", daemon.LogLevel)
	out.flag("logToStderr", daemon.LogToStderr)
	if daemon.SocketDir == "" {
		daemon.SocketDir = server.DefaultMultusRunDir // an empty text means the default to us
	}
	out.text("socketDir", daemon.SocketDir)
	if daemon.PerNodeCertificate != nil {
		out["perNodeCertificate"] = daemon.PerNodeCertificate
	}
	if daemon.ConnectionLimit != nil {
		out["connectionLimit"] = daemon.ConnectionLimit
	}
	if daemon.MetricsPort != nil {
		out["metricsPort"] = daemon.MetricsPort
	}
	if daemon.EnablePprof != nil {
		out["enablePprof"] = daemon.EnablePprof
	}
	out.text("binDir", multus.BinDir)
	if len(multus.Capabilities) > 0 {
		out["capabilities"] = multus.Capabilities
	}
	out.text("cniVersion", multus.CNIVersion)
	out.text("clusterNetwork", multus.ClusterNetwork)
	out.flag("namespaceIsolation", multus.NamespaceIsolation)
	out.text("globalNamespaces", multus.RawNonIsolatedNamespaces)
	out.text("readinessindicatorfile", multus.ReadinessIndicatorFile)
	out.text("type", multus.Type)
	out.text("cniDir", multus.CniDir)
	out.text("cniConfigDir", multus.CniConfigDir)
	out.text("auxiliaryCNIChainName", multus.AuxiliaryCNIChainName)
	out.text("daemonSocketDir", multus.DaemonSocketDir)
	out.text("multusConfigFile", multus.MultusConfigFile)
	out.text("multusMasterCNI", multus.MultusMasterCni)
	out.text("multusAutoconfigDir", multus.MultusAutoconfigDir)
	out.flag("forceCNIVersion", multus.ForceCNIVersion)
	out.flag("overrideNetworkName", multus.OverrideNetworkName)
	return generic(out)
}
