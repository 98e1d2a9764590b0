// A device plugin with any number of devices that do not exist: it tells each container by DEVICES which ones it got.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"sort"
	"strings"
	"syscall"

	pluginapi "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
	plugin "k8s.io/kubernetes/pkg/kubelet/cm/devicemanager/plugin/v1beta1"
)

var (
	resource = flag.String("resource", "test.example.com/vf", "name of the resource")
	prefix   = flag.String("prefix", "dev", "the ids begin with it")
	count    = flag.Int("count", 10, "number of devices")
	folder   = flag.String("kubelet", "/var/lib/kubelet", "directory of the kubelet")
	infos    = flag.String("infos", "", "write device-info files to this directory")
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// As the network device plugins do (Device Information Specification).
func writeInfo(id string) {
	info := map[string]any{"type": "pci", "version": "1.1.0", "pci": map[string]string{"pci-address": id}}
	text, err := json.Marshal(info)
	check(err)
	name := strings.ReplaceAll(fmt.Sprintf("%s-%s-device.json", *resource, id), "/", "-")
	check(os.MkdirAll(*infos, 0o755))
	check(os.WriteFile(filepath.Join(*infos, name), text, 0o644))
}

func allocate(request *pluginapi.AllocateRequest, _ map[string]*pluginapi.Device) (*pluginapi.AllocateResponse, error) {
	answer := &pluginapi.AllocateResponse{}
	for _, container := range request.ContainerRequests {
		ids := append([]string{}, container.DevicesIds...)
		sort.Strings(ids)
		if *infos != "" {
			for _, id := range ids {
				writeInfo(id)
			}
		}
		fmt.Printf("allocated %s\n", strings.Join(ids, " "))
		answer.ContainerResponses = append(answer.ContainerResponses,
			&pluginapi.ContainerAllocateResponse{Envs: map[string]string{"DEVICES": strings.Join(ids, " ")}})
	}
	return answer, nil
}

func main() {
	flag.Parse()
	var devices []*pluginapi.Device
	for i := 0; i < *count; i++ {
		devices = append(devices, &pluginapi.Device{ID: fmt.Sprintf("%s-%03d", *prefix, i), Health: pluginapi.Healthy})
	}
	sockets := filepath.Join(*folder, "device-plugins") + "/"
	stub := plugin.NewDevicePluginStub(devices, sockets+*prefix+".sock", *resource, false, false)
	stub.SetAllocFunc(allocate)
	check(stub.Start())
	check(stub.Register(sockets+"kubelet.sock", *resource, sockets))
	fmt.Println("registered")
	go stub.Watch(sockets+"kubelet.sock", *resource, sockets)
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT)
	<-ended
	check(stub.Stop())
}
