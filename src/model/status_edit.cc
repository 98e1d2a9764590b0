#include "model/status_edit.h"

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/at.h"
#include "json/count.h"
#include "json/json.h"
#include "model/attachment_record.h"
#include "model/network_status.h"

namespace mnet::model {
namespace {

// More than a status of kMaxStatusText has; a pod's author may write the annotation, too.
constexpr std::size_t kMostValues = 20'000;

Result<json::Array> read_entries(std::string_view text) {
  if (trim(text).empty()) return json::Array();
  if (json::count(text).values > kMostValues) {
    return Error(Errc::kInvalid, cat("network status: more than ", kMostValues, " values"));
  }
  auto document = json::parse(text);
  if (!document) return std::move(document).error().wrap("network status");
  if (document->as_array() == nullptr) {
    return Error(Errc::kInvalid, cat("network status: expected a list, got ", document->kind()));
  }
  return std::move(*document->as_array());
}

std::string_view text_in(const json::Value& entry, std::string_view key) {
  const json::Object* object = entry.as_object();
  const std::string* text = object == nullptr ? nullptr : json::as_string(object->find(key));
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

// What an entry is about.
using Place = std::pair<std::string_view, std::string_view>;  // network and interface

// None for something that is not an entry.
std::optional<Place> place_of(const json::Value& entry) {
  if (entry.as_object() == nullptr) return std::nullopt;
  return Place(text_in(entry, "name"), text_in(entry, "interface"));
}

// How many there were.
std::size_t erase_entries(json::Array& entries, const std::set<Place>& places) {
  return std::erase_if(entries, [&places](const json::Value& entry) {
    const auto place = place_of(entry);
    return place && places.contains(*place);
  });
}

StatusText text_of(const json::Array& entries) {
  StatusText text;
  for (const json::Value& entry : entries) text.add_entry(entry);
  return text;
}

}  // namespace

Result<StatusText> with_statuses(const std::optional<std::string>& text,
                                 const std::vector<NetworkStatus>& added) {
  MNET_TRY(auto&& entries, read_entries(text.value_or("")));
  std::set<Place> replaced;
  for (const NetworkStatus& status : added) replaced.emplace(status.name, status.interface);
  erase_entries(entries, replaced);
  StatusText edited = text_of(entries);
  for (const NetworkStatus& status : added) edited.add(status);
  return edited;
}

Result<std::optional<std::string>> without_statuses(const std::string& text,
                                                    std::string_view network,
                                                    const std::vector<std::string>& ifnames) {
  MNET_TRY(auto&& entries, read_entries(text));
  std::set<Place> gone;
  for (const std::string& ifname : ifnames) gone.emplace(network, ifname);
  if (erase_entries(entries, gone) == 0) return std::optional<std::string>();
  return std::optional<std::string>(text_of(entries).text());
}

Result<std::optional<StatusText>> with_changes(const std::optional<std::string>& text,
                                               const std::vector<StaleStatus>& stale,
                                               const std::vector<NetworkStatus>& attached) {
  MNET_TRY(auto&& entries, read_entries(text.value_or("")));
  std::set<Place> gone;
  for (const StaleStatus& one : stale) {
    for (const std::string& ifname : one.ifnames) gone.emplace(one.network, ifname);
  }
  bool has_changed = erase_entries(entries, gone) > 0;
  std::set<Place> there;
  for (const json::Value& entry : entries) {
    if (const auto place = place_of(entry)) there.insert(*place);
  }
  StatusText edited = text_of(entries);
  for (const NetworkStatus& status : attached) {
    if (there.contains(Place(status.name, status.interface))) continue;
    edited.add(status);
    has_changed = true;
  }
  if (!has_changed) return std::optional<StatusText>();
  return std::optional<StatusText>(std::move(edited));
}

}  // namespace mnet::model
