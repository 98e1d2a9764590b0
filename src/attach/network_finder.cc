#include "attach/network_finder.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/all.h"
#include "aio/task.h"
#include "attach/ports.h"
#include "attach/room.h"
#include "attach/source.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/error.h"
#include "cni/types.h"
#include "json/json.h"
#include "model/delegate.h"
#include "model/inject.h"
#include "model/nad.h"
#include "model/netconf.h"
#include "model/requested_networks.h"
#include "model/selection_element.h"

namespace mnet::attach {
namespace {

// A search takes some 16 KB. Twice as many as there are live reads, because some networks are found
// in memory.
constexpr std::size_t kAtOnce = 2 * LiveReads::kMost;
// What a network takes whatever its configuration, in the measure of a weight.
constexpr std::size_t kWeightOfNetwork = 768;

constexpr std::string_view kRemedy = "correct the types in its configuration";

std::string described(std::string_view ns, std::string_view name) {
  return cat("network-attachment-definition (", excerpt(name), ") in namespace (", excerpt(ns),
             ")");
}

std::string no_definition(std::string_view ns, std::string_view name) {
  return cat("cannot find a ", described(ns, name));
}

Error not_found(std::string_view ns, std::string_view name) {
  return Error(Errc::kNotFound,
               cat(no_definition(ns, name), ": network-attachment-definitions.k8s.cni.cncf.io ",
                   go_quoted(name), " not found"));
}

// A pod's `cni-args` become part of the configuration.
Result<void> check_arguments(const json::Object& cni_args, const model::NetConf& conf) {
  MNET_TRY_VOID(cni::check_types(cni_args, conf.type));
  if (!conf.allowed_plugin_types) return {};
  return cni::check_allowed_types(cni_args, *conf.allowed_plugin_types);
}

// Multus as its own delegate would call itself without end (02-F19), with paths of the node that
// the author of a definition chose. Of the networks that the pod selects, only those of allowed
// types.
Result<void> check_all_types(const model::Delegate& delegate,
                             const std::optional<model::NetworkSelectionElement>& selection,
                             const model::NetConf& conf) {
  auto checked = model::check_types(delegate, conf.type);
  if (checked && selection) {
    checked = model::check_allowed_types(delegate, conf.allowed_plugin_types);
  }
  if (!checked) return checked.error().with_text(cat(checked.error().text(), "; ", kRemedy));
  if (!selection || !selection->cni_args) return {};
  checked = check_arguments(*selection->cni_args, conf);
  if (!checked) return std::move(checked).error().wrap("cni-args of the pod's annotation");
  return {};
}

std::string described(const model::RequestedNetwork& wanted, const model::Delegate& delegate) {
  if (wanted.selection) return described(wanted.selection->ns, wanted.selection->name);
  return cat("network ",
             excerpt(wanted.configured.empty() ? delegate.cni_name : wanted.configured));
}

}  // namespace

aio::asio::awaitable<std::vector<Result<NetworkFinder::Found>>> NetworkFinder::find_all(
    std::vector<model::RequestedNetwork> networks) {
  std::vector<Result<Found>> all;
  if (networks.size() == 1) {  // the usual ADD needs no children
    auto only = co_await find(std::move(networks.front()));
    all.push_back(std::move(only));
    co_return all;
  }
  all.reserve(networks.size());
  while (all.size() < networks.size()) {
    const std::size_t end = std::min(all.size() + kAtOnce, networks.size());
    std::vector<aio::Task<Found>> tasks;
    for (std::size_t i = all.size(); i < end; ++i) tasks.push_back(find(std::move(networks[i])));
    auto found = co_await aio::all(std::move(tasks));
    std::ranges::move(found, std::back_inserter(all));
  }
  co_return all;
}

Result<void> check_weight(const model::Weight& weight) {
  constexpr std::string_view kAll = "the configurations of all networks of this request take ";
  if (weight.values > kMaxDefinitionValues) {
    return Error(Errc::kInvalid, cat(kAll, "more than ", kMaxDefinitionValues, " values"));
  }
  if (weight.total() > kLargestWeight) {
    return Error(Errc::kInvalid, cat(kAll, "more than ", kLargestWeight, " bytes"));
  }
  return {};
}

aio::Task<NetworkFinder::Found> NetworkFinder::find(model::RequestedNetwork wanted) {
  Result<Found> found;
  if (wanted.given) {
    model::Delegate delegate = *std::move(wanted.given);
    wanted.given.reset();
    found = Found{.wanted = std::move(wanted), .delegate = std::move(delegate)};
  } else {
    auto finding =
        wanted.selection ? find_selected(std::move(wanted)) : find_configured(std::move(wanted));
    found = co_await std::move(finding);
  }
  if (!found) co_return found;
  auto checked = check_all_types(found->delegate, found->wanted.selection, job_.conf);
  if (checked && found->wanted.selection && found->wanted.selection->cni_args) {
    checked = take_in(model::weight_of(*found->wanted.selection->cni_args, found->delegate));
  }
  if (!checked) {
    co_return std::move(checked).error().wrap(described(found->wanted, found->delegate));
  }
  co_return found;
}

aio::Task<NetworkFinder::Found> NetworkFinder::find_configured(model::RequestedNetwork wanted) {
  if (!is_path(wanted.configured)) {
    co_return co_await find_by_name(std::move(wanted));
  }
  MNET_CO_TRY(auto&& delegate,
              co_await core_.ports.networks.by_path(wanted.configured, job_.conf.type));
  // Of a directory's list the scratch file has more (02, 6.1).
  if (!wanted.configured.ends_with(".conflist")) delegate.from_list_file = false;
  co_return Found{.wanted = std::move(wanted), .delegate = std::move(delegate)};
}

// The definition, else a file (02, 3.3 a to c). A definition that exists but cannot be used, or
// cannot be asked for, is not a reason to take the file (02-F14).
aio::Task<NetworkFinder::Found> NetworkFinder::find_by_name(model::RequestedNetwork wanted) {
  if (core_.ports.source == nullptr) {
    co_return Error(Errc::kInvalid, "must have either Kubernetes config or delegates");
  }
  const std::string& ns = job_.conf.multus_namespace;
  auto definition = co_await core_.ports.source->find_network(
      {.ns = ns, .name = wanted.configured, .reads = &reads_});
  if (!definition) {
    co_return std::move(definition).error().wrap(no_definition(ns, wanted.configured));
  }
  if (*definition != nullptr) {
    co_return co_await load(std::move(wanted), *std::move(definition));
  }
  auto delegate = co_await core_.ports.networks.by_name(job_.conf.conf_dir, wanted.configured);
  if (!delegate) {
    if (delegate.error().code() != Errc::kNotFound) co_return std::move(delegate).error();
    const Error missing = not_found(ns, wanted.configured);
    co_return Error(Errc::kNotFound, cat(missing.text(), "; ", delegate.error().text()));
  }
  delegate->from_list_file = false;
  co_return Found{.wanted = std::move(wanted), .delegate = *std::move(delegate)};
}

aio::Task<NetworkFinder::Found> NetworkFinder::find_selected(model::RequestedNetwork wanted) {
  if (core_.ports.source == nullptr) {
    co_return Error(Errc::kInvalid, "must have either Kubernetes config or delegates");
  }
  // Whether such names can exist is the source's to say: they become part of a path only there (02,
  // 0.3).
  const std::string ns = wanted.selection->ns;
  const std::string name = wanted.selection->name;
  auto definition =
      co_await core_.ports.source->find_network({.ns = ns, .name = name, .reads = &reads_});
  if (!definition) co_return std::move(definition).error().wrap(no_definition(ns, name));
  if (*definition == nullptr) co_return not_found(ns, name);
  co_return co_await load(std::move(wanted), *std::move(definition));
}

aio::Task<NetworkFinder::Found> NetworkFinder::load(model::RequestedNetwork wanted,
                                                    model::NetworkDefinitionPtr definition) {
  auto delegate = co_await load_delegate(definition);
  if (!delegate) {
    if (delegate.error().code() == Errc::kCancelled) co_return std::move(delegate).error();
    if (delegate.error().origin() != nullptr) {
      co_return std::move(delegate).error().wrap(described(definition->ns, definition->name));
    }
    // kNotFound is for definitions that are not there.
    co_return Error(Errc::kInvalid, cat(described(definition->ns, definition->name), ": ",
                                        delegate.error().text()));
  }
  delegate->name = cat(definition->ns, "/", definition->name);
  co_return Found{.wanted = std::move(wanted),
                  .delegate = *std::move(delegate),
                  .resource_name = definition->resource_name};
}

model::Weight NetworkFinder::weigh(const std::vector<model::RequestedNetwork>& networks) const {
  model::Weight all;
  if (core_.ports.source == nullptr) return all;
  for (const model::RequestedNetwork& network : networks) {
    if (all.total() > kLargestWeight) break;
    if (!network.selection && (network.given || is_path(network.configured))) continue;
    const auto count =
        network.selection
            ? core_.ports.source->count_network(network.selection->ns, network.selection->name)
            : core_.ports.source->count_network(job_.conf.multus_namespace, network.configured);
    all.bytes += kWeightOfNetwork;
    if (count) all += {.bytes = count->bytes, .values = count->values};
    if (!network.selection || !network.selection->cni_args) continue;
    const std::size_t plugins = std::max<std::size_t>(1, count ? count->listed : 1);
    all += model::weight_of(*network.selection->cni_args, plugins);
  }
  return all;
}

// Before anything is built of it.
Result<void> NetworkFinder::take_in(model::Weight weight) {
  taken_in_ += weight;
  MNET_TRY_VOID(check_weight(taken_in_));
  if (taken_in_.total() <= expected_) return {};
  return cni::coded(cni::Code::kTryAgainLater,
                    "the definition is new or has changed, and is larger than was known when this "
                    "request began; try again");
}

aio::Task<model::Delegate> NetworkFinder::load_delegate(model::NetworkDefinitionPtr definition) {
  if (!model::has_configuration(*definition)) {
    auto delegate = co_await core_.ports.networks.by_name(job_.conf.conf_dir, definition->name);
    if (delegate) delegate->from_list_file = false;
    co_return delegate;
  }
  const std::string& config = *definition->config;
  MNET_CO_TRY_VOID(take_in(model::weight_of(config)));
  MNET_CO_TRY(auto&& text, model::configuration_of(*definition));
  co_return model::parse_delegate(std::move(text));
}

}  // namespace mnet::attach
