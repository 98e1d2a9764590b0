#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/all.h"
#include "aio/task.h"
#include "attach/resolve.h"
#include "attach/source.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/types.h"
#include "model/delegate.h"
#include "model/nad.h"
#include "model/networks_annotation.h"
#include "model/requested_networks.h"

namespace mnet::attach {
namespace {

constexpr std::string_view kRemedy = "write the type of another plugin into its configuration";

bool is_path(std::string_view network) { return network.contains('/'); }

std::string described(std::string_view ns, std::string_view name) {
  return cat("network-attachment-definition (", name, ") in namespace (", ns, ")");
}

std::string no_definition(std::string_view ns, std::string_view name) {
  return cat("cannot find a ", described(ns, name));
}

Error not_found(std::string_view ns, std::string_view name) {
  return Error(Errc::kNotFound,
               cat(no_definition(ns, name), ": network-attachment-definitions.k8s.cni.cncf.io ",
                   go_quoted(name), " not found"));
}

// Multus as its own delegate would call itself without end (02-F19), with paths of the node that
// the author of a definition chose. A pod's `cni-args` become part of the configuration.
Result<void> check_all_types(const model::Delegate& delegate,
                             const std::optional<model::NetworkSelectionElement>& selection,
                             std::string_view own_type) {
  if (auto checked = model::check_types(delegate, own_type); !checked) {
    return checked.error().with_text(cat(checked.error().text(), "; ", kRemedy));
  }
  if (!selection || !selection->cni_args) return {};
  if (auto checked = cni::check_types(*selection->cni_args, own_type); !checked) {
    return std::move(checked).error().wrap("cni-args of the pod's annotation");
  }
  return {};
}

std::string described(const model::RequestedNetwork& wanted, const model::Delegate& delegate) {
  if (wanted.selection) return described(wanted.selection->ns, wanted.selection->name);
  return cat("network ", wanted.configured.empty() ? delegate.cni_name : wanted.configured);
}

}  // namespace

aio::Task<std::vector<Resolver::Found>> Resolver::find_all(
    std::vector<model::RequestedNetwork> networks) {
  std::vector<aio::Task<Found>> tasks;
  tasks.reserve(networks.size());
  for (const model::RequestedNetwork& network : networks) tasks.push_back(find(network));
  std::vector<Result<Found>> all;
  if (tasks.size() == 1) {  // the usual ADD needs no children
    auto only = co_await std::move(tasks.front());
    all.push_back(std::move(only));
  } else {
    all = co_await aio::all(std::move(tasks));
  }
  tell_of_failures(networks, all);
  std::vector<Found> found;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i]) co_return explained(std::move(all[i]).error(), networks[i]);
    found.push_back(*std::move(all[i]));
  }
  co_return found;
}

aio::Task<Resolver::Found> Resolver::find(model::RequestedNetwork wanted) {
  Result<Found> found;
  if (wanted.given) {
    model::Delegate delegate = *std::move(wanted.given);
    wanted.given.reset();
    found = Found{.wanted = std::move(wanted), .delegate = std::move(delegate)};
  } else {
    found = co_await find_any(std::move(wanted));
  }
  if (!found) co_return found;
  auto checked = check_all_types(found->delegate, found->wanted.selection, job_.conf.type);
  if (!checked) {
    co_return std::move(checked).error().wrap(described(found->wanted, found->delegate));
  }
  co_return found;
}

aio::Task<Resolver::Found> Resolver::find_any(model::RequestedNetwork wanted) {
  return wanted.selection ? find_selected(std::move(wanted)) : find_configured(std::move(wanted));
}

aio::Task<Resolver::Found> Resolver::find_configured(model::RequestedNetwork wanted) {
  if (!is_path(wanted.configured)) {
    co_return co_await find_by_name(std::move(wanted));
  }
  MNET_CO_TRY(auto&& delegate,
              co_await core_.ports.networks.by_path(wanted.configured, job_.conf.type));
  // Of a directory's list the scratch file has more (02, 6.1).
  if (!wanted.configured.ends_with(".conflist")) delegate.from_list_file = false;
  co_return Found{.wanted = std::move(wanted), .delegate = std::move(delegate)};
}

// The definition, else a file (02, 3.3 a to c). A definition that is there but cannot be used, or
// not be asked for, is no reason to take the file (02-F14).
aio::Task<Resolver::Found> Resolver::find_by_name(model::RequestedNetwork wanted) {
  if (core_.ports.source == nullptr) {
    co_return Error(Errc::kInvalid, "must have either Kubernetes config or delegates");
  }
  const std::string& ns = job_.conf.multus_namespace;
  auto definition = co_await core_.ports.source->find_network(ns, wanted.configured);
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

aio::Task<Resolver::Found> Resolver::find_selected(model::RequestedNetwork wanted) {
  if (core_.ports.source == nullptr) {
    co_return Error(Errc::kInvalid, "must have either Kubernetes config or delegates");
  }
  // Whether such names can exist is the source's to say: they become part of a path only there (02,
  // 0.3).
  const std::string ns = wanted.selection->ns;
  const std::string name = wanted.selection->name;
  auto definition = co_await core_.ports.source->find_network(ns, name);
  if (!definition) co_return std::move(definition).error().wrap(no_definition(ns, name));
  if (*definition == nullptr) co_return not_found(ns, name);
  co_return co_await load(std::move(wanted), *std::move(definition));
}

aio::Task<Resolver::Found> Resolver::load(model::RequestedNetwork wanted,
                                          model::NetworkDefinitionPtr definition) {
  auto delegate = co_await load_delegate(definition);
  if (!delegate) {
    if (delegate.error().code() == Errc::kCancelled) co_return std::move(delegate).error();
    // kNotFound is for definitions that are not there.
    co_return Error(Errc::kInvalid, cat(described(definition->ns, definition->name), ": ",
                                        delegate.error().text()));
  }
  delegate->name = cat(definition->ns, "/", definition->name);
  co_return Found{.wanted = std::move(wanted),
                  .delegate = *std::move(delegate),
                  .resource_name = definition->resource_name};
}

aio::Task<model::Delegate> Resolver::load_delegate(model::NetworkDefinitionPtr definition) {
  if (!model::has_configuration(*definition)) {
    auto delegate = co_await core_.ports.networks.by_name(job_.conf.conf_dir, definition->name);
    if (delegate) delegate->from_list_file = false;
    co_return delegate;
  }
  definition_bytes_ += definition->config->size();
  if (definition_bytes_ > kMaxDefinitionBytes) {
    co_return Error(Errc::kInvalid, cat("the configurations of all networks of this request have "
                                        "more than ",
                                        kMaxDefinitionBytes, " bytes"));
  }
  MNET_CO_TRY(auto&& text, model::configuration_of(*definition));
  co_return model::parse_delegate(std::move(text));
}

Error Resolver::explained(Error error, const model::RequestedNetwork& wanted) const {
  if (wanted.selection) {
    if (error.code() == Errc::kNotFound) {
      error = error.with_text(cat(error.text(), "; create it, or correct the pod's annotation"));
    }
    return std::move(error).wrap("failed getting the delegate").wrap(kPodFault);
  }
  if (wanted.given) return is_whole_ ? std::move(error).wrap(kConfiguredFault) : error;
  const std::string& name = wanted.configured;
  if (error.code() == Errc::kNotFound && !is_path(name)) {
    error = std::move(error).wrap("cannot find network");
  }
  if (wanted.source == model::Source::kCluster) {
    error = std::move(error).wrap(
        cat("failed to get clusterNetwork ", name, " in namespace ", job_.conf.multus_namespace));
  } else {
    error = std::move(error).wrap(cat("failed to get default network ", name));
  }
  return is_whole_ ? std::move(error).wrap(kConfiguredFault) : error;
}

void Resolver::warn_pod(std::string reason, std::string message) const {
  if (pod_ == nullptr || core_.ports.source == nullptr) return;
  core_.ports.source->send({.pod = pod_,
                            .is_warning = true,
                            .reason = std::move(reason),
                            .message = std::move(message)});
}

// In the order of the list, whatever the order of the answers. Files that are given as paths are
// the node's business, not the pod's.
void Resolver::tell_of_failures(const std::vector<model::RequestedNetwork>& networks,
                                const std::vector<Result<Found>>& found) const {
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] || found[i].error().code() == Errc::kCancelled) continue;
    if (is_path(networks[i].configured)) continue;
    warn_pod("NoNetworkFound", found[i].error().text());
  }
}

}  // namespace mnet::attach
