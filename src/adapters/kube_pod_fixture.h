// For tests: pods as the API has them and as attach knows them.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "attach/source.h"

namespace mnet::adapters {

inline constexpr std::string_view kPlainPod =
    R"({"metadata":{"name":"a","namespace":"n","uid":"u"}})";

inline model::PodObjectPtr pod_with(model::Annotations annotations) {
  model::PodObject object;
  object.ns = "n";
  object.name = "a";
  object.uid = "u";
  object.annotations = std::move(annotations);
  return std::make_shared<const model::PodObject>(std::move(object));
}

// Asks for no networks.
inline model::PodObjectPtr plain_pod() { return pod_with({}); }
inline model::PodObjectPtr asking_pod() { return pod_with({{"k8s.v1.cni.cncf.io/networks", "x"}}); }

}  // namespace mnet::adapters
