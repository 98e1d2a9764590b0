// Where claims and slices come from: the API server, or in tests a fixed set.
#pragma once

#include <optional>
#include <string>

#include "aio/task.h"
#include "json/json.h"

namespace mnet::devices {

class ResourceObjects {
 public:
  struct SlicePage {
    json::Array items;
    std::string next;  // empty: there are no more
  };

  virtual ~ResourceObjects() = default;
  // None if there is no such claim.
  virtual aio::Task<std::optional<json::Object>> find_claim(std::string ns, std::string name) = 0;
  // ResourceSlices that the field selector selects; `from` is `next` of the page before.
  virtual aio::Task<SlicePage> list_slices(std::string field_selector, std::string from) = 0;
};

}  // namespace mnet::devices
