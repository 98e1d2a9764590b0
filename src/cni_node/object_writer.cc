#include "cni_node/object_writer.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "aio/timer.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni_node/object_server.h"
#include "cni_node/objects.h"
#include "json/at.h"
#include "json/json.h"
#include "kube/kube.h"
#include "kube/retries.h"
#include "nodetools/diff_text.h"
#include "nodetools/output.h"

namespace mnet::cni_node {
namespace {

bool is_definition(const ObjectName& id) {
  return id.kind == "CustomResourceDefinition" &&
         id.api_version.starts_with("apiextensions.k8s.io/");
}

Error unknown_kind(const ObjectName& id) {
  return Error(Errc::kNotFound, cat("no matches for kind ", go_quoted(id.kind), " in version ",
                                    go_quoted(id.api_version)));
}

// What only the server may say is left out.
std::string body_of(const ManifestObject& object, const std::string& ns) {
  json::Object out = object.object;
  json::Object* metadata = out.find("metadata")->as_object();
  for (const std::string_view member :
       {"managedFields", "resourceVersion", "uid", "selfLink", "creationTimestamp", "generation"}) {
    metadata->erase(member);
  }
  if (ns.empty()) {
    metadata->erase("namespace");
  } else {
    metadata->set("namespace", ns);
  }
  return json::dump(out);
}

bool is_established(const json::Object& definition) {
  const auto conditions = json::objects_of(json::find_at(definition, {"status", "conditions"}));
  return std::ranges::any_of(conditions, [](const json::Object* condition) {
    return json::text_at(*condition, {"type"}) == "Established" &&
           json::text_at(*condition, {"status"}) == "True";
  });
}

// As people read it: without what the server keeps for itself.
std::string readable(const std::string& text) {
  auto object = json::parse_object(text);
  if (!object) return {};
  object->erase("status");
  if (json::Value* metadata = object->find("metadata"); metadata && metadata->as_object()) {
    for (const std::string_view member :
         {"managedFields", "resourceVersion", "uid", "creationTimestamp", "generation"}) {
      metadata->as_object()->erase(member);
    }
  }
  return json::dump(*object, {.sorted = true, .indent = 2, .escape_html = false}) + "\n";
}

std::string version_in(const std::string& body) {
  const auto object = json::parse_object(body);
  return object ? json::text_at(*object, {"metadata", "resourceVersion"}) : "";
}

}  // namespace

bool is_contained(const json::Value& ours, const json::Value& live) {
  if (const json::Object* object = ours.as_object()) {
    const json::Object* theirs = live.as_object();
    return theirs != nullptr && std::ranges::all_of(*object, [&](const json::Member& member) {
             const json::Value* other = theirs->find(member.first);
             return other != nullptr && is_contained(member.second, *other);
           });
  }
  const json::Array* list = ours.as_array();
  if (list == nullptr) return ours == live;
  const json::Array* other = live.as_array();
  return other != nullptr && std::ranges::equal(*list, *other, is_contained);
}

ObjectWriter::ObjectWriter(kube::Api& api, WriterSettings settings, nodetools::Output& output)
    : server_(api, std::move(settings), output), remover_(server_, output), output_(output) {}

std::string ObjectWriter::patch_query() const {
  return cat("?fieldManager=", kube::query_value(server_.settings().field_manager), "&force=true",
             server_.settings().is_dry ? "&dryRun=All" : "");
}

Result<void> ObjectWriter::said(const Target& target, std::string_view what) {
  output_.print(cat(target.label, " ", what));
  return {};
}

// A definition that was just applied is not served at once.
aio::Task<Target> ObjectWriter::resolve_or_wait(std::string about, ObjectName id) {
  ObjectServer::Wait wait{.about = std::move(about),
                          .what = cat("kind ", id.kind, " to be served")};
  for (;;) {
    MNET_CO_TRY(auto&& target, co_await server_.resolve(id));
    if (target) co_return *std::move(target);
    if (!applied_definition_ || server_.settings().is_dry) co_return unknown_kind(id);
    MNET_CO_TRY(auto&& goes_on, co_await server_.may_look_again(&wait));
    if (!goes_on) co_return unknown_kind(id);
    server_.forget();
  }
}

aio::Task<void> ObjectWriter::check_kinds(std::string about, std::vector<ManifestObject> objects) {
  bool may_come = applied_definition_;
  for (const ManifestObject& object : objects) {
    MNET_CO_TRY(auto&& target, co_await server_.resolve(object.id));
    if (!target && !may_come) {
      co_return unknown_kind(object.id).wrap(cat("document ", object.document));
    }
    if (target && !target->resource.is_namespaced && !object.id.ns.empty()) {
      output_.complain(about, cat(object.id.kind, " ", object.id.name,
                                  " has no namespace: ", object.id.ns, " is ignored"));
    }
    may_come = may_come || is_definition(object.id);
  }
  co_return Result<void>();
}

aio::Task<void> ObjectWriter::apply(std::string about, std::vector<ManifestObject> objects) {
  MNET_CO_TRY_VOID(co_await check_kinds(about, objects));
  for (ManifestObject& object : objects) {
    MNET_CO_TRY_VOID(co_await apply_one(about, std::move(object)));
  }
  co_return Result<void>();
}

aio::Task<std::vector<ObjectName>> ObjectWriter::full_names(std::vector<ManifestObject> objects) {
  std::vector<ObjectName> out;
  for (const ManifestObject& object : objects) {
    MNET_CO_TRY(auto&& target, co_await server_.resolve(object.id));
    out.push_back(target ? target->id : object.id);
  }
  co_return out;
}

aio::Task<kube::Reply> ObjectWriter::patch(std::string about, Target* target, std::string body) {
  for (bool is_second = false;; is_second = true) {
    auto reply = co_await server_.call({.method = "PATCH",
                                        .path = target->path + patch_query(),
                                        .body = body,
                                        .content_type = "application/apply-patch+yaml"});
    if (is_second || !reply || reply->status != 404) co_return reply;
    // The definition may have been replaced by one with another plural.
    server_.forget();
    MNET_CO_TRY(auto&& again, co_await resolve_or_wait(about, target->id));
    *target = std::move(again);
  }
}

aio::Task<void> ObjectWriter::apply_one(std::string about, ManifestObject object) {
  auto target = co_await resolve_or_wait(about, object.id);
  // Its definition was only thought of.
  if (!target && server_.settings().is_dry && applied_definition_) {
    output_.print(cat(to_lower(object.id.kind), "/", object.id.name, " would be created"));
    co_return Result<void>();
  }
  if (!target) co_return std::move(target).error();
  const std::string body = body_of(object, target->id.ns);
  if (is_definition(object.id)) applied_definition_ = true;
  if (server_.settings().is_dry) {
    co_return co_await show_difference(*std::move(target), body);
  }
  const auto version = co_await version_before(*target);
  auto reply = co_await patch(about, &*target, body);
  if (!reply) co_return std::move(reply).error().wrap(target->label);
  if (reply->status == 403) {
    auto created = co_await create(*target, body, reply->error());
    if (!created) co_return std::move(created).error().wrap(target->label);
  } else if (!reply->ok()) {
    co_return reply->error().wrap(target->label);
  } else {
    if (version.value_or("").empty() || version_in(reply->body) != *version) ++changes_;
    (void)said(*target, reply->status == 201 ? "created" : "serverside-applied");
  }
  if (!is_definition(object.id)) co_return Result<void>();
  server_.forget();
  co_return co_await wait_established(about, *std::move(target));
}

// Empty if it is not there, may not be read, or does not matter. The server need not ask its store.
aio::Task<std::string> ObjectWriter::version_before(Target target) {
  if (!server_.settings().tells_changes) co_return std::string();
  MNET_CO_TRY(auto&& live, co_await server_.call({.path = target.path + "?resourceVersion=0"}));
  co_return live.ok() ? version_in(live.body) : std::string();
}

// The original's role has no `patch`: what is not there is created, what is there must be as
// wanted. A conflict means that another client has just created it.
aio::Task<void> ObjectWriter::create(Target target, std::string body, Error refused) {
  kube::Retries retries = server_.settings().retries;
  kube::Attempts rounds = server_.api().attempts(retries);
  retries.repeats_conflicts = false;
  for (;;) {
    MNET_CO_TRY(auto&& live, co_await server_.call({.path = target.path}));
    if (live.ok()) {
      co_return co_await compare(target, std::move(body), std::move(live.body), std::move(refused));
    }
    if (live.status != 404) co_return live.error();
    const auto made = co_await server_.call(
        {.method = "POST",
         .path = cat(target.collection,
                     "?fieldManager=", kube::query_value(server_.settings().field_manager)),
         .body = body},
        retries);
    if (!made) co_return made.error();
    if (made->ok()) {
      ++changes_;
      co_return said(target, "created");
    }
    if (made->status != 409) co_return made->error();
    aio::Timer& timer = server_.api().timer();
    const auto pause = rounds.pause_after(made, timer.now());
    if (!pause) co_return made->error();
    MNET_CO_TRY_VOID(co_await timer.sleep_for(*pause));
  }
}

aio::Task<void> ObjectWriter::compare(Target target, std::string body, std::string live,
                                      Error refused) {
  const auto ours = json::parse(body);
  const auto theirs = json::parse(live);
  if (ours && theirs && is_contained(*ours, *theirs)) co_return said(target, "unchanged");
  co_return refused.with_text(cat(refused.text(),
                                  " (the object exists and differs; changing it "
                                  "needs the right to patch)"));
}

aio::Task<void> ObjectWriter::show_difference(Target target, std::string body) {
  MNET_CO_TRY(auto&& live, co_await server_.call({.path = target.path}));
  const std::string before = live.ok() ? readable(live.body) : "";
  auto after = co_await server_.call({.method = "PATCH",
                                      .path = target.path + patch_query(),
                                      .body = body,
                                      .content_type = "application/apply-patch+yaml"});
  if (!after) co_return std::move(after).error().wrap(target.label);
  if (!after->ok()) co_return after->error().wrap(target.label);
  const bool is_secret = target.id.kind == "Secret";
  const std::string difference = nodetools::diff_text(before, readable(after->body));
  if (difference.empty()) co_return said(target, "would stay unchanged");
  ++changes_;
  (void)said(target, before.empty() ? "would be created" : "would be changed");
  output_.print(is_secret ? "(content withheld)" : difference);
  co_return Result<void>();
}

aio::Task<void> ObjectWriter::wait_established(std::string about, Target target) {
  ObjectServer::Wait wait{.about = std::move(about),
                          .what = cat(target.label, " to be established")};
  while (server_.settings().wait_time.count() > 0) {
    auto reply = co_await server_.call({.path = target.path});
    if (!reply) co_return std::move(reply).error().wrap(target.label);
    if (reply->status == 403) break;  // it cannot be seen; what needs it will tell
    if (!reply->ok()) co_return reply->error().wrap(target.label);
    const auto definition = json::parse_object(reply->body);
    if (definition && is_established(*definition)) break;
    MNET_CO_TRY(auto&& goes_on, co_await server_.may_look_again(&wait));
    if (!goes_on) {
      co_return Error(Errc::kTimeout, cat(target.label, ": not established in time"));
    }
  }
  co_return Result<void>();
}

}  // namespace mnet::cni_node
