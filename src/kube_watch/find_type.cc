#include "kube_watch/find_type.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/fields.h"
#include "json/json.h"
#include "kube/api.h"
#include "kube/discovery.h"
#include "kube/reply.h"

namespace mnet::kube_watch {
namespace {

constexpr std::chrono::seconds kCallTime{30};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

void skip_digits(std::string_view& text) {
  while (!text.empty() && is_digit(text.front())) text.remove_prefix(1);
}

// `v1`, `v2beta1`
bool is_version(std::string_view text) {
  if (!text.starts_with('v') || text.size() < 2 || !is_digit(text[1])) return false;
  text.remove_prefix(1);
  skip_digits(text);
  for (const std::string_view stage : {"alpha", "beta"}) {
    if (!text.starts_with(stage)) continue;
    text.remove_prefix(stage.size());
    if (text.empty()) return false;
    skip_digits(text);
    break;
  }
  return text.empty();
}

}  // namespace

std::vector<TypeReading> read_type(std::string_view text) {
  const std::size_t dot = text.find('.');
  const std::string resource(text.substr(0, dot));
  if (dot == std::string_view::npos) return {{.resource = resource}};
  const std::string_view rest = text.substr(dot + 1);
  const std::size_t second = rest.find('.');
  const std::string_view version = rest.substr(0, second);
  std::vector<TypeReading> readings;
  if (is_version(version)) {
    const std::string_view group =
        second == std::string_view::npos ? std::string_view() : rest.substr(second + 1);
    readings.push_back({resource, std::string(group), std::string(version)});
  }
  readings.push_back({resource, std::string(rest), ""});
  return readings;
}

const kube::Resource* find_resource(const std::vector<kube::Resource>& resources,
                                    std::string_view name) {
  const auto is_called = [&](const kube::Resource& resource) {
    const auto is_it = [&](std::string_view other) { return equal_ignoring_case(other, name); };
    return is_it(resource.plural) || is_it(resource.singular) || is_it(resource.kind) ||
           std::ranges::any_of(resource.short_names, is_it);
  };
  const auto found = std::ranges::find_if(resources, is_called);
  return found == resources.end() ? nullptr : &*found;
}

aio::Task<std::optional<kube::Resource>> TypeFinder::find(std::string type) {
  discovery_.forget();
  for (const TypeReading& reading : read_type(type)) {
    auto found = co_await find(reading);
    if (!found || *found) co_return found;
  }
  co_return std::optional<kube::Resource>();
}

aio::Task<std::optional<kube::Resource>> TypeFinder::find(TypeReading reading) {
  if (!reading.version.empty()) {
    co_return co_await find_in({*reading.group, reading.version}, reading.resource);
  }
  if (!reading.group || reading.group->empty()) {
    auto found = co_await find_in({"", "v1"}, reading.resource);
    if (!found || *found || reading.group) co_return found;
  }
  MNET_CO_TRY(auto&& groups, co_await fetch_groups());
  std::optional<Error> trouble;
  for (const kube::GroupVersion& where : groups) {
    if (reading.group && where.group != *reading.group) continue;
    auto found = co_await find_in(where, reading.resource);
    if (found && *found) co_return found;
    if (!found && found.error().code() == Errc::kCancelled) co_return found;
    if (!found && !trouble) trouble = std::move(found).error();
  }
  if (trouble) co_return *std::move(trouble);
  co_return std::optional<kube::Resource>();
}

aio::Task<std::optional<kube::Resource>> TypeFinder::find_in(kube::GroupVersion where,
                                                             std::string name) {
  MNET_CO_TRY(auto&& resources, co_await discovery_.fetch(std::move(where)));
  if (!resources) co_return std::optional<kube::Resource>();
  const kube::Resource* found = find_resource(*resources, name);
  co_return found == nullptr ? std::optional<kube::Resource>() : std::optional(*found);
}

aio::Task<std::vector<kube::GroupVersion>> TypeFinder::fetch_groups() {
  MNET_CO_TRY(auto&& reply,
              co_await api_.call({.path = "/apis"}, std::chrono::steady_clock::now() + kCallTime));
  if (reply.status != 200) {
    co_return Error(Errc::kUnavailable, cat("GET /apis: status ", reply.status));
  }
  co_return parse_groups(reply.body);
}

Result<std::vector<kube::GroupVersion>> parse_groups(std::string_view text) {
  auto object = json::parse_object(text);
  if (!object) return std::move(object).error().wrap("list of API groups");
  std::vector<kube::GroupVersion> out;
  json::Fields fields(*object);
  fields.list("groups", [&](const json::Value& value, const std::string& path) -> Result<void> {
    if (value.as_object() == nullptr) return json::wrong_kind(path, "an object", value);
    kube::GroupVersion group;
    json::Fields one(*value.as_object(), path);
    one.read("name", group.group);
    one.object("preferredVersion", [&](const json::Object& preferred, std::string where) {
      json::Fields version(preferred, std::move(where));
      version.read("version", group.version);
      return version.done();
    });
    if (!group.version.empty()) out.push_back(std::move(group));
    return one.done();
  });
  MNET_TRY_VOID(fields.done());
  return out;
}

}  // namespace mnet::kube_watch
