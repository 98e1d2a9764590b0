#include "thin/config.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/text.h"
#include "devices/kubelet_dir.h"
#include "json/fields.h"
#include "json/json.h"
#include "settings/log_settings.h"
#include "wire/wire.h"

namespace mnet::thin {
namespace {

// More than a year is not a limit any more, and the clock's arithmetic stays sound.
constexpr std::int64_t kLongestTimeout = 31'536'000;

void read_timeout(json::Fields& fields, Config& config) {
  std::int64_t seconds = config.delegate_timeout.count();
  fields.read("delegateTimeout", seconds);
  if (seconds <= 0) fields.fail("delegateTimeout", cat("must be greater than 0, got ", seconds));
  config.delegate_timeout = std::chrono::seconds(std::min(seconds, kLongestTimeout));
}

}  // namespace

Result<Config> read_config(const json::Object& document) {
  Config config;
  json::Fields fields(document);
  fields.read("cniVersion", config.cni_version);
  fields.read("cniDir", config.cni_dir);
  fields.read("objectsDir", config.objects_dir);
  fields.read("kubeconfig", config.kubeconfig);
  fields.read("kubeletDir", config.kubelet_dir);
  read_timeout(fields, config);
  settings::read_log_settings(fields, config);
  if (auto read = fields.done(); !read) return read.error().wrap("failed to load netconf");
  if (config.cni_dir.empty()) config.cni_dir = wire::kDefaultCniDir;
  if (config.kubelet_dir.empty()) config.kubelet_dir = devices::kDefaultKubeletDir;
  return config;
}

}  // namespace mnet::thin
