#include "model/status_edit.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/at.h"
#include "json/json.h"
#include "model/attachment_record.h"
#include "model/network_status.h"

namespace mnet::model {
namespace {

Result<json::Array> read_entries(std::string_view text) {
  if (trim(text).empty()) return json::Array();
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

bool is_of(const json::Value& entry, std::string_view network, std::string_view ifname) {
  return entry.as_object() != nullptr && text_in(entry, "name") == network &&
         text_in(entry, "interface") == ifname;
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
  std::erase_if(entries, [&](const json::Value& entry) {
    return std::ranges::any_of(added, [&](const NetworkStatus& status) {
      return is_of(entry, status.name, status.interface);
    });
  });
  StatusText edited = text_of(entries);
  for (const NetworkStatus& status : added) edited.add(status);
  return edited;
}

Result<std::optional<std::string>> without_statuses(const std::string& text,
                                                    std::string_view network,
                                                    const std::vector<std::string>& ifnames) {
  MNET_TRY(auto&& entries, read_entries(text));
  const auto erased = std::erase_if(entries, [&](const json::Value& entry) {
    return std::ranges::any_of(
        ifnames, [&](const std::string& ifname) { return is_of(entry, network, ifname); });
  });
  if (erased == 0) return std::optional<std::string>();
  return std::optional<std::string>(text_of(entries).text());
}

Result<std::optional<StatusText>> with_changes(const std::optional<std::string>& text,
                                               const std::vector<StaleStatus>& stale,
                                               const std::vector<NetworkStatus>& attached) {
  MNET_TRY(auto&& entries, read_entries(text.value_or("")));
  bool has_changed = false;
  for (const StaleStatus& one : stale) {
    has_changed |= std::erase_if(entries, [&](const json::Value& entry) {
                     return std::ranges::any_of(one.ifnames, [&](const std::string& ifname) {
                       return is_of(entry, one.network, ifname);
                     });
                   }) > 0;
  }
  StatusText edited = text_of(entries);
  for (const NetworkStatus& status : attached) {
    const bool is_there = std::ranges::any_of(entries, [&](const json::Value& entry) {
      return is_of(entry, status.name, status.interface);
    });
    if (is_there) continue;
    edited.add(status);
    has_changed = true;
  }
  if (!has_changed) return std::optional<StatusText>();
  return std::optional<StatusText>(std::move(edited));
}

}  // namespace mnet::model
