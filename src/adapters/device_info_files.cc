#include "adapters/device_info_files.h"

namespace mnet::adapters {

aio::Task<void> DeviceInfoFiles::copy(std::string, std::string, std::string) {
  co_return Result<void>();
}

aio::Task<std::optional<json::Object>> DeviceInfoFiles::find(std::string) {
  co_return std::optional<json::Object>();
}

aio::Task<void> DeviceInfoFiles::remove(std::string) { co_return Result<void>(); }

}  // namespace mnet::adapters
