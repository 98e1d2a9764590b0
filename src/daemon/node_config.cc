#include "daemon/node_config.h"

#include <filesystem>
#include <string>
#include <system_error>

#include "base/text.h"
#include "sys/file.h"

namespace mnet::daemon {

Result<void> copy_user_config(const Config& config) {
  const std::filesystem::path source = config.multus_config_file;
  const std::filesystem::path target =
      std::filesystem::path(config.cni_config_dir) / source.filename();
  const auto failed = [&](const Error& why) {
    return why.wrap(cat("failed to copy the user provided configuration ", source.string()));
  };
  std::error_code no_target;
  if (std::filesystem::equivalent(source, target, no_target)) return {};
  const auto text = sys::read_file(source.string());
  if (!text) return failed(text.error());
  if (auto written = sys::replace_file(target.string(), *text, 0600); !written) {
    return failed(written.error());
  }
  return {};
}

}  // namespace mnet::daemon
