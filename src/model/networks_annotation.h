// The pod's annotations that choose networks: `k8s.v1.cni.cncf.io/networks` and
// `v1.multus-cni.io/default-network`, in both formats (02, 2.1 and 2.2). Text to values; whether
// the networks exist is asked elsewhere.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/json.h"
#include "model/selection_element.h"

namespace mnet::model {

inline constexpr std::size_t kMaxAnnotation = 256u << 10;
// More would be a mistake or an attack: each is an interface of the pod.
inline constexpr std::size_t kMaxNetworks = 1000;
// Values of all kinds in the JSON format: each costs hundreds of bytes in the copies that its way
// to the plugin takes, and two in the text.
inline constexpr std::size_t kMaxValues = 10'000;

// How many elements parse_networks_annotation() would yield, if it accepts the text. Builds
// nothing: an element takes hundreds of bytes and the text of one only two, so the parsers below
// count first.
std::size_t count_elements(std::string_view text);

// Elements in order; none for a text that is empty or only white space. `pod_namespace` is taken
// for elements that name none. One invalid element makes the whole annotation invalid, and so do
// too many.
Result<std::vector<NetworkSelectionElement>> parse_networks_annotation(
    std::string_view text, std::string_view pod_namespace);

// Exactly one element; an annotation that is there but empty is an error.
Result<NetworkSelectionElement> parse_default_network_annotation(std::string_view text,
                                                                 std::string_view multus_namespace);

// 6, 8 or 20 bytes with `:`, `-` or `.` between them, as Go reads hardware addresses.
bool is_hardware_address(std::string_view text);

}  // namespace mnet::model
