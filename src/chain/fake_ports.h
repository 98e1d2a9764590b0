// Fakes of the ports of a chain: plugins and a result cache in memory that record what was asked of
// them. For tests of chain and of folders that build on it.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/event.h"
#include "base/error.h"
#include "base/text.h"
#include "base/try.h"
#include "chain/plugins.h"
#include "chain/results.h"
#include "cni/version.h"
#include "json/json.h"

namespace mnet::chain {

// Everything that happened, in order, over all fakes of one node.
using Calls = std::vector<std::string>;
// The names of the links in each namespace, by its path.
using LinkNames = std::map<std::string, std::set<std::string>>;

// Plugins that make and remove links and answer with a plausible result. Scripts are by
// `<command> <network name>`, or `<command> <network name> <type>` where that is not enough.
class FakePlugins : public Plugins {
 public:
  FakePlugins(Calls& calls, LinkNames& links) : calls_(calls), links_(links) {}

  aio::Task<std::string> find(std::string type, std::vector<std::string> dirs) override {
    if (missing.contains(type)) {
      co_return Error(Errc::kNotFound,
                      cat("failed to find plugin ", go_quoted(type), " in path ", bracketed(dirs)));
    }
    co_return cat("/bin/", type);
  }

  aio::Task<std::string> run(PluginRun what) override {
    const json::Object config = json::parse_object(what.config).value_or(json::Object());
    const std::string network = text_in(config, "name");
    const std::string type = what.binary.substr(what.binary.rfind('/') + 1);
    const std::string what_for = cat(what.command, " ", network);
    if (not_executable.contains(type)) co_return Error(Errc::kPlugin, "permission denied");
    if (what.started != nullptr) *std::exchange(what.started, nullptr) = true;
    if (const auto held = holds.find(what_for); held != holds.end()) {
      const std::shared_ptr<Hold> hold = held->second;
      hold->reached.set();
      MNET_CO_TRY_VOID(co_await hold->release.wait());
    }
    calls_.push_back(what.ifname.empty() ? what_for : cat(what_for, " ", what.ifname));
    runs.push_back(what);
    if (on_run) on_run(what);
    for (const std::string& key : {what_for, cat(what_for, " ", type)}) {
      if (const auto script = errors.find(key); script != errors.end()) co_return script->second;
      if (const auto script = answers.find(key); script != answers.end()) co_return script->second;
    }
    if (what.command == "DEL") links_[what.netns].erase(what.ifname);
    if (what.command != "ADD") co_return std::string();
    links_[what.netns].insert(what.ifname);
    co_return result_text(text_in(config, "cniVersion"), what);
  }

  aio::Task<EarlyRun> start_early(std::string type, PluginRun what) override {
    if (!has_room_to_spare || missing.contains(type)) co_return EarlyRun();
    calls_.push_back(cat("early ", type));
    what.binary = cat("/bin/", type);
    // Counts those that wait; shared, as the function that holds it moves.
    auto waiting = std::shared_ptr<int>(&early, [](int* count) { --*count; });
    ++early;
    co_return [this, what = std::move(what), waiting](std::string config) mutable {
      waiting.reset();
      what.config = std::move(config);
      return run(std::move(what));
    };
  }

  // A run that waits in the middle until it is released.
  struct Hold {
    aio::Event reached, release;
  };
  std::shared_ptr<Hold> hold(const std::string& what_for) {
    return holds[what_for] = std::make_shared<Hold>();
  }

  // The stdin of the n-th run, decoded.
  json::Object config(std::size_t n) const { return json::parse_object(runs.at(n).config).value(); }

  static std::string text_in(const json::Object& object, std::string_view key) {
    const json::Value* value = object.find(key);
    const std::string* text = value == nullptr ? nullptr : value->as_string();
    return text == nullptr ? std::string() : *text;
  }

  std::vector<PluginRun> runs;
  std::map<std::string, Error> errors;
  std::map<std::string, std::string> answers;
  std::set<std::string> missing;  // types without an executable
  std::set<std::string> not_executable;
  bool has_room_to_spare = false;  // for plugins that start ahead of their turn
  int early = 0;                   // those that wait for their configuration
  std::map<std::string, std::shared_ptr<Hold>> holds;
  std::function<void(const PluginRun&)> on_run;

 private:
  static std::string result_text(const std::string& version, const PluginRun& what) {
    json::Object result{{"cniVersion", version}};
    if (!cni::at_least(version, {0, 3, 0})) {
      result.set("ip4", json::Object{{"ip", "10.0.0.2/24"}});
      return json::dump(result);
    }
    result.set("interfaces",
               json::Array{json::Object{{"name", what.ifname}, {"sandbox", what.netns}}});
    json::Object ip{{"address", "10.0.0.2/24"}, {"interface", 0}};
    if (!cni::at_least(version, {1, 0, 0})) ip.set("version", "4");
    result.set("ips", json::Array{json::Value(ip)});
    return json::dump(result);
  }

  Calls& calls_;
  LinkNames& links_;
};

class FakeResults : public Results {
 public:
  explicit FakeResults(Calls& calls) : calls_(calls) {}

  aio::Task<void> write_result(std::string, cni::CacheEntry entry, Durability kept) override {
    co_return keep(std::move(entry), kept);
  }
  aio::Task<std::optional<cni::CachedResult>> find_result(std::string, cni::CacheKey key) override {
    if (read_error) co_return *read_error;
    if (const auto failure = result_errors.find(name_of(key)); failure != result_errors.end()) {
      co_return failure->second;
    }
    if (damaged_results.contains(name_of(key))) {
      co_return Error(Errc::kInvalid, "decoding version from network config: not JSON");
    }
    const auto found = results.find(name_of(key));
    if (found == results.end()) co_return std::optional<cni::CachedResult>();
    cni::CachedResult cached{.result = found->second.result.value_or(json::Object())};
    if (const auto noted = deleted_from.find(name_of(key)); noted != deleted_from.end()) {
      cached.deleted_from = noted->second;
    }
    co_return std::optional<cni::CachedResult>(std::move(cached));
  }
  aio::Task<void> note_deleted(std::string, cni::CacheKey key, std::size_t from) override {
    if (results.contains(name_of(key))) deleted_from[name_of(key)] = from;
    co_return Result<void>();
  }
  aio::Task<void> remove_result(std::string, cni::CacheKey key) override {
    MNET_CO_TRY_VOID(act(cat("remove result ", name_of(key))));
    results.erase(name_of(key));
    deleted_from.erase(name_of(key));
    damaged_results.erase(name_of(key));
    co_return Result<void>();
  }

  static std::string name_of(const cni::CacheKey& key) {
    return cat(key.network, "-", key.container_id, "-", key.ifname);
  }

  std::map<std::string, cni::CacheEntry> results;   // by file name
  std::map<std::string, std::size_t> deleted_from;  // by file name
  std::set<std::string> damaged_results;            // file names
  std::set<std::string> unsynced;                   // file names
  std::map<std::string, Error> errors;              // by line of `calls`
  // Files that are there and cannot be read: all, and results by file name.
  std::optional<Error> read_error;
  std::map<std::string, Error> result_errors;

 protected:
  Result<void> act(std::string what) {
    calls_.push_back(what);
    if (const auto found = errors.find(what); found != errors.end()) return found->second;
    return {};
  }

  Result<void> keep(cni::CacheEntry entry, Durability kept) {
    const std::string name = name_of({entry.network, entry.container_id, entry.ifname});
    MNET_TRY_VOID(act(cat("write result ", name)));
    results[name] = std::move(entry);
    deleted_from.erase(name);
    if (kept == Durability::kInPlace) unsynced.insert(name);
    return {};
  }

 private:
  Calls& calls_;
};

// What a chain needs of a node. Outlives whatever uses it.
struct FakeNode {
  Calls calls;
  LinkNames links = {{"/ns", {}}};
  FakePlugins plugins{calls, links};
  FakeResults results{calls};
};

}  // namespace mnet::chain
