// The kubelet's PodResources service by grpc-go, with answers from a file that may change between two calls:
//
//	{"pods": [{"namespace": "n", "name": "p", "containers": [{"name": "c", "devices": {"r": ["1"]}}]}],
//	 "allocatable": {"r": ["1"]}, "fill": 0, "delay": 0, "fail": [8, 14]}
//
// `fill` pods of about a KiB come first, `delay` is in milliseconds, and `fail` are statuses of the next calls.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"
)

var (
	socket = flag.String("socket", "", "where to listen")
	file   = flag.String("answers", "", "what to answer")
)

type container struct {
	Name    string
	Devices map[string][]string
}

type pod struct {
	Namespace, Name string
	Containers      []container
}

type answers struct {
	Pods        []pod
	Allocatable map[string][]string
	Fill, Delay int
	Fail        []codes.Code
}

type server struct {
	podresources.UnimplementedPodResourcesListerServer
	lock   sync.Mutex
	failed int
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (s *server) next(method string) (answers, error) {
	var all answers
	text, err := os.ReadFile(*file)
	check(err)
	check(json.Unmarshal(text, &all))
	s.lock.Lock()
	defer s.lock.Unlock()
	fmt.Println(method)
	time.Sleep(time.Duration(all.Delay) * time.Millisecond)
	if s.failed < len(all.Fail) {
		s.failed++
		return all, status.Error(all.Fail[s.failed-1], "as it was told")
	}
	return all, nil
}

func devices(all map[string][]string) []*podresources.ContainerDevices {
	var out []*podresources.ContainerDevices
	for resource, ids := range all {
		out = append(out, &podresources.ContainerDevices{ResourceName: resource, DeviceIds: ids,
			Topology: &podresources.TopologyInfo{Nodes: []*podresources.NUMANode{{ID: 0}}}})
	}
	return out
}

func (s *server) List(context.Context, *podresources.ListPodResourcesRequest) (*podresources.ListPodResourcesResponse, error) {
	all, err := s.next("List")
	if err != nil {
		return nil, err
	}
	answer := &podresources.ListPodResourcesResponse{}
	var pods []pod
	for i := 0; i < all.Fill; i++ {
		pods = append(pods, pod{Namespace: "fill", Name: fmt.Sprintf("p%d", i), Containers: []container{
			{Name: strings.Repeat("x", 1000), Devices: map[string][]string{"r": {"1"}}}}})
	}
	for _, one := range append(pods, all.Pods...) {
		listed := &podresources.PodResources{Name: one.Name, Namespace: one.Namespace}
		for _, inside := range one.Containers {
			listed.Containers = append(listed.Containers, &podresources.ContainerResources{
				Name: inside.Name, CpuIds: []int64{1, 300}, Devices: devices(inside.Devices)})
		}
		answer.PodResources = append(answer.PodResources, listed)
	}
	return answer, nil
}

func (s *server) GetAllocatableResources(context.Context, *podresources.AllocatableResourcesRequest) (*podresources.AllocatableResourcesResponse, error) {
	all, err := s.next("GetAllocatableResources")
	if err != nil {
		return nil, err
	}
	return &podresources.AllocatableResourcesResponse{Devices: devices(all.Allocatable), CpuIds: []int64{1, 2}}, nil
}

func main() {
	flag.Parse()
	os.Remove(*socket)
	listener, err := net.Listen("unix", *socket)
	check(err)
	serving := grpc.NewServer(grpc.MaxSendMsgSize(64 << 20))
	podresources.RegisterPodResourcesListerServer(serving, &server{})
	fmt.Println("serving")
	check(serving.Serve(listener))
}
