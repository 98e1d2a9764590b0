// For tests: a pod that asks for no networks, as the API has it and as attach knows it.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "attach/source.h"

namespace mnet::adapters {

inline constexpr std::string_view kPlainPod =
    R"({"metadata":{"name":"a","namespace":"n","uid":"u"}})";

inline model::PodObjectPtr plain_pod() {
  model::PodObject object;
  object.ns = "n";
  object.name = "a";
  object.uid = "u";
  return std::make_shared<const model::PodObject>(std::move(object));
}

}  // namespace mnet::adapters
