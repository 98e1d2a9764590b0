#include "certs/judge.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/dns_name.h"
#include "base/text.h"
#include "certs/signing_request.h"
#include "certs/x509.h"

namespace mnet::certs {
namespace {

constexpr std::int64_t kLongest = 31'536'000;  // a year
constexpr std::array<std::string_view, 2> kUsages{"client auth", "digital signature"};
constexpr std::array<std::string_view, 3> kGroups{"system:nodes", kGroup, "system:authenticated"};

// Why a request is denied; none if the rule holds.
using Fault = std::optional<std::string>;

struct User {
  std::string_view prefix, node;
};

std::optional<User> parse_user(std::string_view username) {
  const auto colon = username.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == username.size()) return std::nullopt;
  return User{username.substr(0, colon), username.substr(colon + 1)};
}

// Rules 1 to 3: only a node's own kubelet or daemon asks.
Fault fault_of_user(const SigningRequest& asked) {
  const auto user = parse_user(asked.username);
  if (!user) return cat("failed to parse the username: ", go_quoted(asked.username));
  if (user->prefix != "system:node" && user->prefix != kGroup) {
    return cat("unexpected user ", go_quoted(asked.username));
  }
  if (!is_dns_subdomain(user->node)) {
    return cat("node name ", go_quoted(user->node), " is not a valid DNS subdomain");
  }
  return std::nullopt;
}

// Rules 4 and 5.
Fault fault_of_usages_and_groups(const SigningRequest& asked) {
  const std::set<std::string_view> usages(asked.usages.begin(), asked.usages.end());
  if (!std::ranges::equal(usages, kUsages)) {
    return cat("unexpected usages ", go_quoted_list(asked.usages));
  }
  const auto is_known = [](const std::string& group) {
    return std::ranges::find(kGroups, group) != kGroups.end();
  };
  if (!std::ranges::all_of(asked.groups, is_known)) {
    return cat("unexpected groups ", go_quoted_list(asked.groups));
  }
  return std::nullopt;
}

// Rules 6 and 7.
Fault fault_of_subject(const SigningRequest& asked, const Request& request) {
  const auto user = parse_user(asked.username);
  const Subject wanted = subject_of_node(user ? user->node : std::string_view());
  if (request.subject.common_name != wanted.common_name) {
    return cat("commonName is ", go_quoted(request.subject.common_name), " and not ",
               go_quoted(wanted.common_name));
  }
  if (request.subject.organizations != wanted.organizations) {
    return cat("organization is ", go_quoted_list(request.subject.organizations), " and not ",
               go_quoted_list(wanted.organizations));
  }
  return std::nullopt;
}

// Rules 8 and 9.
Fault fault_of_duration(const SigningRequest& asked) {
  if (!asked.expiration_seconds) return "expirationSeconds is missing";
  if (*asked.expiration_seconds > kLongest) {
    return cat("invalid expirationSeconds value: ", *asked.expiration_seconds);
  }
  return std::nullopt;
}

// Rule 10: nothing in it that our own requests do not have.
Fault fault_of_request(const Request& request) {
  if (request.wants_alt_names) return "unexpected subjectAltName";
  if (request.wants_extensions) return "unexpected extensions";
  if (!request.further_attributes.empty()) {
    return cat("unexpected attributes of the subject ", go_quoted_list(request.further_attributes));
  }
  if (request.key_type != kOurKeyType) {
    return cat("unexpected key ", go_quoted(request.key_type), ", it must be ",
               go_quoted(kOurKeyType));
  }
  if (!request.is_signed) return "the request is not signed with its own key";
  return std::nullopt;
}

Fault first_fault(const SigningRequest& asked, const Request& request) {
  if (auto fault = fault_of_user(asked)) return fault;
  if (auto fault = fault_of_usages_and_groups(asked)) return fault;
  if (auto fault = fault_of_subject(asked, request)) return fault;
  if (auto fault = fault_of_duration(asked)) return fault;
  return fault_of_request(request);
}

Verdict ignored(std::string why) { return {Verdict::Decision::kIgnore, std::move(why)}; }

Verdict unreadable(std::string why) {
  Verdict verdict = ignored(std::move(why));
  verdict.is_unreadable = true;
  return verdict;
}

}  // namespace

Subject subject_of_node(std::string_view node) {
  return {.common_name = cat(kUserPrefix, node), .organizations = {std::string(kGroup)}};
}

Verdict judge(const SigningRequest& asked) {
  if (!asked.certificate.empty()) return ignored("issued");
  if (asked.condition("Approved") != nullptr) return ignored("approved");
  if (asked.condition("Denied") != nullptr) return ignored("denied");
  if (asked.signer != kSigner) return ignored("for another signer");
  auto request = parse_request(asked.request);
  if (!request) return unreadable(request.error().text());
  if (!request->subject.common_name.starts_with(kUserPrefix)) return ignored("for another user");
  if (auto fault = first_fault(asked, *request)) {
    return {Verdict::Decision::kDeny, *std::move(fault)};
  }
  return {Verdict::Decision::kApprove, cat("Auto-approved CSR ", go_quoted(asked.meta.name))};
}

}  // namespace mnet::certs
