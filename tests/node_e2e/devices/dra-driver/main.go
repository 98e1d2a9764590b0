// A DRA driver with any number of devices that do not exist: it publishes the attributes that networks need and gives
// the container runtime nothing to do.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/dynamic-resource-allocation/kubeletplugin"
	"k8s.io/dynamic-resource-allocation/resourceslice"
)

var (
	name       = flag.String("driver", "test.dra.example.com", "name of the driver")
	node       = flag.String("node", "node1", "name of the node")
	resource   = flag.String("resource", "test.example.com/dra-vf", "attribute resourceName of the devices")
	count      = flag.Int("count", 8, "number of devices")
	plain      = flag.Int("plain", 1, "number of devices that are not for networks")
	kubeconfig = flag.String("kubeconfig", "", "access to the API")
	folder     = flag.String("kubelet", "/var/lib/kubelet", "directory of the kubelet")
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type driver struct{}

func (driver) PrepareResourceClaims(_ context.Context, claims []*resourceapi.ResourceClaim) (map[types.UID]kubeletplugin.PrepareResult, error) {
	prepared := map[types.UID]kubeletplugin.PrepareResult{}
	for _, claim := range claims {
		var one kubeletplugin.PrepareResult
		for _, result := range claim.Status.Allocation.Devices.Results {
			one.Devices = append(one.Devices, kubeletplugin.Device{
				Requests: []string{result.Request}, PoolName: result.Pool, DeviceName: result.Device})
		}
		prepared[claim.UID] = one
		fmt.Printf("prepared %s/%s\n", claim.Namespace, claim.Name)
	}
	return prepared, nil
}

func (driver) UnprepareResourceClaims(_ context.Context, claims []kubeletplugin.NamespacedObject) (map[types.UID]error, error) {
	done := map[types.UID]error{}
	for _, claim := range claims {
		done[claim.UID] = nil
	}
	return done, nil
}

func (driver) HandleError(_ context.Context, err error, text string) {
	fmt.Fprintln(os.Stderr, text, err)
}

func text(value string) resourceapi.DeviceAttribute {
	return resourceapi.DeviceAttribute{StringValue: &value}
}

func devices() []resourceapi.Device {
	var all []resourceapi.Device
	for i := 0; i < *count; i++ {
		all = append(all, resourceapi.Device{Name: fmt.Sprintf("vf-%d", i),
			Attributes: map[resourceapi.QualifiedName]resourceapi.DeviceAttribute{
				"kind":                         text("vf"),
				"k8s.cni.cncf.io/deviceID":     text(fmt.Sprintf("dra-%03d", i)),
				"k8s.cni.cncf.io/resourceName": text(*resource),
			}})
	}
	for i := 0; i < *plain; i++ {
		all = append(all, resourceapi.Device{Name: fmt.Sprintf("gpu-%d", i),
			Attributes: map[resourceapi.QualifiedName]resourceapi.DeviceAttribute{"kind": text("gpu")}})
	}
	return all
}

func main() {
	flag.Parse()
	access, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	check(err)
	client, err := kubernetes.NewForConfig(access)
	check(err)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	own := filepath.Join(*folder, "plugins", *name)
	check(os.MkdirAll(own, 0o750))
	helper, err := kubeletplugin.Start(ctx, driver{}, kubeletplugin.DriverName(*name), kubeletplugin.NodeName(*node),
		kubeletplugin.KubeClient(client), kubeletplugin.PluginDataDirectoryPath(own),
		kubeletplugin.RegistrarDirectoryPath(filepath.Join(*folder, "plugins_registry")))
	check(err)
	check(helper.PublishResources(ctx, resourceslice.DriverResources{Pools: map[string]resourceslice.Pool{
		*node: {Slices: []resourceslice.Slice{{Devices: devices()}}}}}))
	fmt.Println("published")
	<-ctx.Done()
	helper.Stop()
}
