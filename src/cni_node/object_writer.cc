#include "cni_node/object_writer.h"

#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/sleep.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni_node/objects.h"
#include "json/json.h"
#include "kube/kube.h"
#include "kube/patient_call.h"
#include "kube/pauses.h"
#include "nodetools/diff_text.h"
#include "nodetools/output.h"

namespace mnet::cni_node {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kFirstWord{2};  // until a wait is spoken of

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

bool is_established(const json::Value& definition) {
  const json::Value* conditions = value_at(definition, {"status", "conditions"});
  const json::Array* list = conditions == nullptr ? nullptr : conditions->as_array();
  if (list == nullptr) return false;
  return std::ranges::any_of(*list, [](const json::Value& condition) {
    const json::Value* type = value_at(condition, {"type"});
    const json::Value* is = value_at(condition, {"status"});
    return type != nullptr && *type == json::Value("Established") && is != nullptr &&
           *is == json::Value("True");
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

}  // namespace

const json::Value* value_at(const json::Value& value, std::initializer_list<std::string_view> way) {
  const json::Value* at = &value;
  for (const std::string_view key : way) {
    const json::Object* object = at->as_object();
    at = object == nullptr ? nullptr : object->find(key);
    if (at == nullptr) break;
  }
  return at;
}

bool is_contained(const json::Value& ours, const json::Value& live) {
  if (const json::Object* object = ours.as_object()) {
    return std::ranges::all_of(*object, [&](const json::Member& member) {
      const json::Value* other = value_at(live, {member.first});
      return other != nullptr && is_contained(member.second, *other);
    });
  }
  const json::Array* list = ours.as_array();
  if (list == nullptr) return ours == live;
  const json::Array* other = live.as_array();
  return other != nullptr && std::ranges::equal(*list, *other, is_contained);
}

ObjectWriter::ObjectWriter(kube::Api& api, WriterSettings settings, nodetools::Output& output)
    : api_(api),
      settings_(std::move(settings)),
      output_(output),
      discovery_(api, settings_.tries) {}

std::string ObjectWriter::patch_query() const {
  return cat("?fieldManager=", kube::query_value(settings_.field_manager), "&force=true",
             settings_.is_dry ? "&dryRun=All" : "");
}

Result<void> ObjectWriter::said(const Target& target, std::string_view what) {
  output_.print(cat(target.label, " ", what));
  return {};
}

aio::Task<kube::Reply> ObjectWriter::call(kube::Call what) {
  co_return co_await kube::patient_call(&api_, std::move(what), settings_.tries);
}

aio::Task<bool> ObjectWriter::may_look_again(Wait* wait) {
  const auto waited = Clock::now() - wait->began;
  if (waited >= settings_.wait_time) co_return false;
  if (!wait->is_told && waited > kFirstWord) {
    output_.complain(wait->about, cat("waiting for ", wait->what, "..."));
    wait->is_told = true;
  }
  MNET_CO_TRY_VOID(co_await aio::sleep_for(settings_.poll));
  co_return true;
}

aio::Task<std::optional<ObjectWriter::Target>> ObjectWriter::resolve(ObjectName id) {
  MNET_CO_TRY(auto&& found, co_await discovery_.find_kind(id.api_version, id.kind));
  if (!found) co_return std::optional<Target>();
  Target out{.id = std::move(id), .resource = *std::move(found)};
  if (!out.resource.is_namespaced) out.id.ns.clear();
  if (out.resource.is_namespaced && out.id.ns.empty()) out.id.ns = settings_.ns;
  out.path = out.resource.object_path(out.id.ns, out.id.name);
  out.collection = out.resource.collection_path(out.id.ns);
  out.label = cat(out.resource.label(), "/", out.id.name);
  co_return std::optional<Target>(std::move(out));
}

// A definition that was just applied is not served at once.
aio::Task<ObjectWriter::Target> ObjectWriter::resolve_or_wait(std::string about, ObjectName id) {
  Wait wait{.about = std::move(about), .what = cat("kind ", id.kind, " to be served")};
  for (;;) {
    MNET_CO_TRY(auto&& target, co_await resolve(id));
    if (target) co_return *std::move(target);
    if (!applied_definition_ || settings_.is_dry) co_return unknown_kind(id);
    MNET_CO_TRY(auto&& goes_on, co_await may_look_again(&wait));
    if (!goes_on) co_return unknown_kind(id);
    discovery_.forget();
  }
}

aio::Task<void> ObjectWriter::check_kinds(std::string about, std::vector<ManifestObject> objects) {
  bool may_come = applied_definition_;
  for (const ManifestObject& object : objects) {
    MNET_CO_TRY(auto&& target, co_await resolve(object.id));
    if (!target && !may_come) {
      co_return unknown_kind(object.id).wrap(cat("document ", object.document));
    }
    if (target && !target->resource.is_namespaced && !object.id.ns.empty()) {
      output_.complain(about, cat(object.id.kind, " ", object.id.name,
                                  " has no namespace: ", object.id.ns, " is left out"));
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
    MNET_CO_TRY(auto&& target, co_await resolve(object.id));
    out.push_back(target ? target->id : object.id);
  }
  co_return out;
}

aio::Task<kube::Reply> ObjectWriter::patch(std::string about, Target* target, std::string body) {
  for (bool is_second = false;; is_second = true) {
    auto reply = co_await call({.method = "PATCH",
                                .path = target->path + patch_query(),
                                .body = body,
                                .content_type = "application/apply-patch+yaml"});
    if (is_second || !reply || reply->status != 404) co_return reply;
    // The definition may have been made anew, with another plural.
    discovery_.forget();
    MNET_CO_TRY(auto&& again, co_await resolve_or_wait(about, target->id));
    *target = std::move(again);
  }
}

aio::Task<void> ObjectWriter::apply_one(std::string about, ManifestObject object) {
  auto target = co_await resolve_or_wait(about, object.id);
  // Its definition was only thought of.
  if (!target && settings_.is_dry && applied_definition_) {
    output_.print(cat(to_lower(object.id.kind), "/", object.id.name, " would be created"));
    co_return Result<void>();
  }
  if (!target) co_return std::move(target).error();
  const std::string body = body_of(object, target->id.ns);
  if (is_definition(object.id)) applied_definition_ = true;
  if (settings_.is_dry) {
    co_return co_await show_difference(*std::move(target), body);
  }
  auto reply = co_await patch(about, &*target, body);
  if (!reply) co_return std::move(reply).error().wrap(target->label);
  if (reply->status == 403) {
    auto created = co_await create(*target, body, reply->error());
    if (!created) co_return std::move(created).error().wrap(target->label);
  } else if (!reply->ok()) {
    co_return reply->error().wrap(target->label);
  } else {
    ++changes_;
    (void)said(*target, reply->status == 201 ? "created" : "serverside-applied");
  }
  if (!is_definition(object.id)) co_return Result<void>();
  discovery_.forget();
  co_return co_await wait_established(about, *std::move(target));
}

// The original's role has no `patch`: what is not there is created, what is there must be as
// wanted.
aio::Task<void> ObjectWriter::create(Target target, std::string body, Error refused) {
  const kube::Tries& tries = settings_.tries;
  kube::Pauses pauses(tries.first_pause, tries.longest_pause, tries.random);
  for (int attempt = 0; attempt < tries.most; ++attempt) {
    MNET_CO_TRY(auto&& live, co_await call({.path = target.path}));
    if (live.ok()) {
      co_return co_await compare(target, std::move(body), std::move(live.body), std::move(refused));
    }
    if (live.status != 404) co_return live.error();
    auto made = co_await api_.call(
        {.method = "POST",
         .path =
             cat(target.collection, "?fieldManager=", kube::query_value(settings_.field_manager)),
         .body = body},
        Clock::now() + tries.call_time);
    if (made && made->ok()) {
      ++changes_;
      co_return said(target, "created");
    }
    if (!kube::is_transient(made) && (!made || made->status != 409)) {
      co_return made ? made->error() : std::move(made).error();
    }
    MNET_CO_TRY_VOID(co_await tries.timer->sleep_for(pauses.next()));
  }
  co_return refused;
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
  MNET_CO_TRY(auto&& live, co_await call({.path = target.path}));
  const std::string before = live.ok() ? readable(live.body) : "";
  auto after = co_await call({.method = "PATCH",
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
  Wait wait{.about = std::move(about), .what = cat(target.label, " to be established")};
  while (settings_.wait_time.count() > 0) {
    auto reply = co_await call({.path = target.path});
    if (!reply) co_return std::move(reply).error().wrap(target.label);
    if (reply->status == 403) break;  // it cannot be seen; what needs it will tell
    if (!reply->ok()) co_return reply->error().wrap(target.label);
    const auto definition = json::parse(reply->body);
    if (definition && is_established(*definition)) break;
    MNET_CO_TRY(auto&& goes_on, co_await may_look_again(&wait));
    if (!goes_on) {
      co_return Error(Errc::kTimeout, cat(target.label, ": not established in time"));
    }
  }
  co_return Result<void>();
}

}  // namespace mnet::cni_node
