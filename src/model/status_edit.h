// Changes single entries of a network-status text and leaves all others as they are and in their
// order (05, 3.8). Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/attachment_record.h"
#include "model/network_status.h"

namespace mnet::model {

// `text` (none: there is no status yet) with these entries after the others. Entries for the same
// network and interface give way. An error if the text is not a list.
Result<StatusText> with_statuses(const std::optional<std::string>& text,
                                 const std::vector<NetworkStatus>& added);

// `text` without the entries of `network` on any of `ifnames`; none if there is nothing to change.
Result<std::optional<std::string>> without_statuses(const std::string& text,
                                                    std::string_view network,
                                                    const std::vector<std::string>& ifnames);

// `text` without the entries of `stale`, then with those of `attached` that it lacks after the
// others; none if there is nothing to change. All others stay as they are.
Result<std::optional<StatusText>> with_changes(const std::optional<std::string>& text,
                                               const std::vector<StaleStatus>& stale,
                                               const std::vector<NetworkStatus>& attached);

}  // namespace mnet::model
