// What is written into a configuration before its plugins get it: the pod's device and its
// `cni-args` (02, 4.4 and 4.5). Pure; a text that needs no change stays as it is, byte for byte.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/json.h"
#include "model/delegate.h"

namespace mnet::model {

struct Injection {
  std::string device_id;                 // empty: none
  std::optional<json::Object> cni_args;  // an empty object still makes `args.cni`

  bool is_empty() const { return device_id.empty() && !cni_args; }
};

// What texts of a pod and of its networks become once they are built (json/count.h).
struct Weight {
  std::size_t bytes = 0;
  std::size_t values = 0;

  // In bytes, as requests are weighed against each other.
  std::size_t total() const { return bytes + 48 * values; }
  Weight& operator+=(const Weight& other) {
    bytes += other.bytes;
    values += other.values;
    return *this;
  }
};
Weight weight_of(std::string_view text);
// What `cni-args` become in all plugins of a network. Two people chose the factors, the author of
// the pod and the author of the network: the caller bounds the product before it is built.
Weight weight_of(const json::Object& cni_args, std::size_t plugins);
Weight weight_of(const json::Object& cni_args, const Delegate& delegate);

// Into the conf, or into every plugin of the list. Only exact keys count (02, J1); an `args` or
// `args.cni` that is not an object is an error.
Result<Delegate> with_injection(Delegate delegate, const Injection& injection);

}  // namespace mnet::model
