// Claims and slices as the API server has them.
#pragma once

#include <optional>
#include <string>

#include "aio/task.h"
#include "devices/resource_objects.h"
#include "kube/kube.h"

namespace mnet::devices {

class ApiObjects : public ResourceObjects {
 public:
  // `api` must outlive it.
  ApiObjects(kube::Api& api, kube::Retries retries) : api_(api), retries_(retries) {}

  aio::Task<std::optional<json::Object>> find_claim(std::string ns, std::string name) override;
  aio::Task<SlicePage> list_slices(std::string field_selector, std::string from) override;

 private:
  kube::Api& api_;
  const kube::Retries retries_;
};

}  // namespace mnet::devices
