#include "devices/slices.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "aio/all.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "devices/resource_objects.h"
#include "json/at.h"
#include "json/json.h"
#include "kube/pages.h"

namespace mnet::devices {
namespace {

// The API allows 64 bytes.
constexpr std::size_t kLongestAttribute = 4096;

std::string attribute(const json::Object& device, std::string_view name) {
  const std::string* text = json::as_string(json::find_at(device, {"attributes", name, "string"}));
  return text == nullptr || text->size() > kLongestAttribute ? std::string() : *text;
}

std::int64_t integer(const json::Value* value) {
  const json::Number* number = value == nullptr ? nullptr : value->as_number();
  return number == nullptr ? 0 : number->as_int64().value_or(0);
}

// If a pool has several generations only the newest counts, also for devices that it lacks. Keeps
// nothing of other pools: the server decides how many there are.
class SliceReader {
 public:
  explicit SliceReader(std::set<DraDevice> wanted) : wanted_(std::move(wanted)) {
    for (const DraDevice& one : wanted_) generations_.try_emplace(one.pool);
  }

  void read(const json::Object& slice) {
    const std::string driver = json::text_at(slice, {"spec", "driver"});
    const std::string pool = json::text_at(slice, {"spec", "pool", "name"});
    const std::int64_t generation = integer(json::find_at(slice, {"spec", "pool", "generation"}));
    const auto known = generations_.find(pool);
    if (known == generations_.end()) return;
    known->second = std::max(known->second.value_or(generation), generation);
    const json::Array* devices = json::as_array(json::find_at(slice, {"spec", "devices"}));
    if (devices == nullptr) return;
    for (const json::Value& value : *devices) {
      const json::Object* device = value.as_object();
      if (device == nullptr) continue;
      add({driver, pool, json::text_at(*device, {"name"})}, *device, generation);
    }
  }

  DraDevices finish() {
    DraDevices out;
    for (auto& [device, found] : found_) {
      if (found.generation == generations_[device.pool]) out[device] = std::move(found.attributes);
    }
    return out;
  }

 private:
  struct Found {
    std::int64_t generation = 0;
    DraAttributes attributes;
  };

  void add(const DraDevice& device, const json::Object& value, std::int64_t generation) {
    if (!wanted_.contains(device)) return;
    const auto known = found_.find(device);
    if (known != found_.end() && known->second.generation > generation) return;
    found_[device] = {.generation = generation,
                      .attributes = {.device_id = attribute(value, kDeviceIdAttribute),
                                     .resource = attribute(value, kResourceNameAttribute)}};
  }

  const std::set<DraDevice> wanted_;
  std::map<std::string, std::optional<std::int64_t>> generations_;  // the newest of each pool
  std::map<DraDevice, Found> found_;
};

}  // namespace

std::string slice_selector(std::string_view node, std::string_view driver) {
  if (node.empty()) return cat("spec.driver=", driver);
  return cat("spec.nodeName=", node, ",spec.driver=", driver);
}

Slices::Slices(const aio::asio::any_io_executor& executor, ResourceObjects& objects,
               std::chrono::milliseconds time, const Log& log)
    : objects_(objects),
      time_(time),
      calls_(executor, log),
      lists_(calls_, "slices", [this](Wanted wanted) { return list(std::move(wanted)); }) {}

aio::Task<DraDevices> Slices::find(std::string node, std::set<DraDevice> wanted) {
  Wanted by_publisher;
  for (const DraDevice& device : wanted) by_publisher[{node, device.driver}].insert(device);
  if (by_publisher.empty()) co_return DraDevices();
  const auto add = [by_publisher](Wanted& all) {
    for (const auto& [publisher, devices] : by_publisher) {
      all[publisher].insert(devices.begin(), devices.end());
    }
  };
  MNET_CO_TRY(auto&& listed, co_await lists_.ask(add, std::chrono::steady_clock::now() + time_));
  DraDevices found;
  for (const auto& [publisher, devices] : by_publisher) {
    const Result<DraDevices>& published = listed->at(publisher);
    if (!published) co_return published.error();
    for (const DraDevice& device : devices) {
      const auto one = published->find(device);
      if (one != published->end()) found.insert(*one);
    }
  }
  co_return found;
}

// A driver whose slices cannot be read fails only the requests for its devices.
aio::Task<Slices::Listed> Slices::list(Wanted wanted) {
  const aio::Deadline end = std::chrono::steady_clock::now() + time_;
  Listed listed;
  for (auto& [publisher, devices] : wanted) {
    auto found = co_await aio::with_deadline(list_of(publisher, std::move(devices)), end);
    if (!found && found.error().code() == Errc::kCancelled) co_return std::move(found).error();
    if (!found) {
      found = std::move(found).error().wrap(cat("resource slices of driver ", publisher.driver));
    }
    listed.emplace(publisher, std::move(found));
  }
  co_return listed;
}

aio::Task<DraDevices> Slices::list_of(Publisher publisher, std::set<DraDevice> wanted) {
  MNET_CO_TRY(auto&& found,
              co_await list_selected(slice_selector(publisher.node, publisher.driver), wanted));
  if (publisher.node.empty()) co_return found;
  std::erase_if(wanted, [&found](const DraDevice& one) { return found.contains(one); });
  if (wanted.empty()) co_return found;
  MNET_CO_TRY(auto&& shared,
              co_await list_selected(cat("spec.nodeName=,", slice_selector({}, publisher.driver)),
                                     std::move(wanted)));
  found.merge(shared);
  co_return found;
}

aio::Task<DraDevices> Slices::list_selected(std::string selector, std::set<DraDevice> wanted) {
  SliceReader reader(std::move(wanted));
  std::string from;
  kube::Pages pages;
  for (;;) {
    MNET_CO_TRY(auto&& page, co_await objects_.list_slices(selector, from));
    for (const json::Value& item : page.items) {
      if (item.as_object() != nullptr) reader.read(*item.as_object());
    }
    MNET_CO_TRY(const bool goes_on, pages.go_on(page.next));
    if (!goes_on) co_return reader.finish();
    from = std::move(page.next);
  }
}

}  // namespace mnet::devices
