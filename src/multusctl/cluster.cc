#include "multusctl/cluster.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "http/origin_client.h"
#include "json/json.h"
#include "kube/api.h"
#include "kube/discovery.h"
#include "kube/exec.h"
#include "kube/list_reader.h"
#include "kube/pages.h"
#include "kube/reply.h"
#include "multusctl/commands.h"
#include "multusctl/invocation.h"
#include "multusctl/node_socket.h"
#include "nodetools/api_access.h"

namespace mnet::multusctl {
namespace {

constexpr std::chrono::seconds kPatience{30};
constexpr std::array<std::string_view, 1> kNotShown = {"managedFields"};

std::string path_of(const Resource& resource, const std::string& ns) {
  return cat(kube::path_of_version(resource.group, resource.version),
             ns.empty() ? "" : "/namespaces/", kube::query_value(ns), "/", resource.name);
}

// The server says who may not do what; people need to know which rule to add.
Error missing_right(const Error& denied, const std::string& verb, const Resource& resource,
                    const std::string& ns) {
  return denied.with_text(cat("needs the right to ", verb, " ", resource.name,
                              resource.group.empty() ? "" : ".", resource.group,
                              ns.empty() ? " in all namespaces" : cat(" in namespace ", ns), ": ",
                              denied.text()));
}

// What to do where there is nothing to ask. Commands that can ask a daemon did not find its socket.
Error without_access(const Error& error, const Invocation& invocation) {
  const auto flags = invocation.command->flags;
  const bool asks_nodes = std::ranges::find(flags, "socket") != flags.end();
  return error.with_text(cat(error.text(), ": name a kubeconfig with --kubeconfig or in KUBECONFIG",
                             asks_nodes
                                 ? cat("; or run it as root on a node whose daemon runs: there "
                                       "is no ",
                                       socket_of(invocation), " here")
                                 : std::string()));
}

}  // namespace

Error failed_command(const kube::ExecOutput& output) {
  return Error(Errc::kUnavailable,
               cat("exit code ", output.exit_code, ": ", excerpt(trim(output.err), 400)));
}

Result<std::unique_ptr<Cluster>> Cluster::open(const Invocation& invocation,
                                               const Surroundings& surroundings) {
  nodetools::AccessOptions options{.kubeconfig = invocation.text("kubeconfig"),
                                   .context = invocation.text("context"),
                                   .ns = invocation.text("namespace"),
                                   .environment = surroundings.environment};
  auto client = nodetools::make_api_client(options, "multusctl", Log());
  if (!client && client.error().code() == Errc::kNotFound) {
    return without_access(client.error(), invocation);
  }
  if (!client) return client.error();
  std::string ns = invocation.has("all-namespaces") ? std::string() : std::move(client->ns);
  return std::unique_ptr<Cluster>(
      new Cluster(std::move(client->api), std::move(ns), surroundings.output));
}

aio::Task<std::string> Cluster::fetch(std::string verb, Resource resource, std::string ns,
                                      kube::Call call) {
  call.max_bytes = 64u << 20;
  auto reply = co_await api_->call(std::move(call), std::chrono::steady_clock::now() + kPatience);
  if (!reply) co_return std::move(reply).error().wrap(api_->server());
  if (reply->ok()) co_return std::move(reply->body);
  const Error error = reply->error();
  if (error.code() == Errc::kDenied) co_return missing_right(error, verb, resource, ns);
  co_return error;
}

aio::Task<void> Cluster::each(Resource resource, std::string ns, Listed listed,
                              std::function<void(json::Object)> visit) {
  std::string next;
  std::size_t left_out = 0;
  kube::Pages pages;
  for (bool goes_on = true; goes_on;) {
    const std::string& query = listed.query;
    std::string path = cat(path_of(resource, ns), "?limit=500", query.empty() ? "" : "&", query,
                           next.empty() ? "" : "&continue=", kube::query_value(next));
    MNET_CO_TRY(auto&& page, co_await read_page(resource, ns, std::move(path), listed, visit));
    left_out += page.left_out;
    MNET_CO_TRY(goes_on, pages.go_on(page.next));
    next = std::move(page.next);
  }
  if (left_out > 0) {
    output_.complain(resource.name, cat(left_out, " objects have more than ", json::kMostValues,
                                        " values and are left out"));
  }
  co_return Result<void>();
}

// A page of large pods has hundreds of megabytes, so that only silence ends it.
aio::Task<Cluster::Page> Cluster::read_page(Resource resource, std::string ns, std::string path,
                                            Listed listed,
                                            std::function<void(json::Object)> visit) {
  const auto deadline = [] { return std::chrono::steady_clock::now() + kPatience; };
  auto opened = co_await api_->open(std::move(path), deadline());
  if (!opened) co_return std::move(opened).error().wrap(api_->server());
  const auto answer = *std::move(opened);
  if (answer->status() != 200) {
    MNET_CO_TRY(const std::string body,
                co_await http::read_whole(answer.get(), kube::kMostOfRefusal, deadline()));
    const Error error = kube::error_of(kube::parse_status(answer->status(), body));
    co_return error.code() == Errc::kDenied ? missing_right(error, "list", resource, ns) : error;
  }
  Page page;
  kube::ListReader reader;
  for (;;) {
    MNET_CO_TRY(const std::string bytes, co_await answer->read(deadline()));
    if (bytes.empty()) break;
    MNET_CO_TRY_VOID(reader.put(bytes));
    while (const auto item = reader.next_item()) {
      auto object = json::parse_object_without(listed.unused, *item);
      if (object) {
        visit(*std::move(object));
      } else {
        ++page.left_out;
      }
    }
  }
  MNET_CO_TRY(auto&& end, reader.finish());
  page.next = std::move(end.continuation);
  page.left_out += reader.skipped();
  co_return page;
}

aio::Task<json::Array> Cluster::list(Resource resource, std::string ns, std::string query) {
  json::Array all;
  MNET_CO_TRY_VOID(
      co_await each(resource, std::move(ns), {.query = std::move(query), .unused = kNotShown},
                    [&all](json::Object object) { all.push_back(std::move(object)); }));
  co_return all;
}

aio::Task<json::Object> Cluster::create(Resource resource, json::Object object, std::string ns) {
  kube::Call call{.method = "POST", .path = path_of(resource, ns), .body = json::dump(object)};
  MNET_CO_TRY(const std::string body, co_await fetch("create", resource, ns, std::move(call)));
  co_return json::parse_object(body);
}

aio::Task<json::Object> Cluster::patch(Resource resource, ObjectName name, json::Object change,
                                       std::string subresource) {
  kube::Call call{
      .method = "PATCH",
      .path = cat(path_of(resource, name.ns), "/", kube::query_value(name.name), subresource),
      .body = json::dump(change),
      .content_type = "application/merge-patch+json"};
  MNET_CO_TRY(const std::string body, co_await fetch("patch", resource, name.ns, std::move(call)));
  co_return json::parse_object(body);
}

aio::Task<void> Cluster::remove(Resource resource, ObjectName name, std::chrono::seconds grace) {
  kube::Call call{.method = "DELETE",
                  .path = cat(path_of(resource, name.ns), "/", kube::query_value(name.name)),
                  .body = json::dump(json::Object{{"gracePeriodSeconds", grace.count()}})};
  const auto gone = co_await fetch("delete", resource, name.ns, std::move(call));
  if (!gone && gone.error().code() != Errc::kNotFound) co_return gone.error();
  co_return Result<void>();
}

aio::Task<std::string> Cluster::log(std::string ns, std::string pod, std::string container,
                                    int lines) {
  constexpr Resource kLogs{"", "v1", "pods/log"};
  kube::Call call{.path =
                      cat(path_of(kPods, ns), "/", kube::query_value(pod), "/log?tailLines=", lines,
                          container.empty() ? "" : "&container=", kube::query_value(container))};
  co_return co_await fetch("get", kLogs, ns, std::move(call));
}

aio::Task<std::string> Cluster::run(kube::Exec what, aio::Deadline deadline) {
  MNET_CO_TRY(auto&& output, co_await exec(std::move(what), deadline));
  if (output.exit_code == 0) co_return std::move(output.out);
  co_return failed_command(output);
}

aio::Task<kube::ExecOutput> Cluster::exec(kube::Exec what, aio::Deadline deadline) {
  return kube::exec(api_.get(), std::move(what), deadline);
}

aio::Task<json::Object> Cluster::get(Resource resource, std::string ns, std::string name) {
  MNET_CO_TRY(const std::string body,
              co_await fetch("get", resource, ns,
                             {.path = cat(path_of(resource, ns), "/", kube::query_value(name))}));
  co_return json::parse_object(body);
}

}  // namespace mnet::multusctl
