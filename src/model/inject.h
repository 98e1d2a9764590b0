// What is written into a configuration before its plugins get it: the pod's device and its
// `cni-args` (02, 4.4 and 4.5). Pure; a text that needs no change stays as it is, byte for byte.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "json/json.h"
#include "model/delegate.h"

namespace mnet::model {

struct Injection {
  std::string device_id;                 // empty: none
  std::optional<json::Object> cni_args;  // an empty object still makes `args.cni`

  bool is_empty() const { return device_id.empty() && !cni_args; }
};

// Into the conf, or into every plugin of the list. Only exact keys count (02, J1); an `args` or
// `args.cni` that is not an object is an error.
Result<Delegate> with_injection(Delegate delegate, const Injection& injection);

}  // namespace mnet::model
