// Reads the known members of an object. Every error names the path of the offending field.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/json.h"

namespace mnet::json {

enum class Match : std::uint8_t {
  kFolded,  // the key in any letter case, the last one if there are several; for most documents
  kExact,   // only the exact key; for list-level keys of a conflist (01, 4.3)
};

// Reads members into variables; an absent member or null leaves its variable unchanged. The first
// error is kept and ends the reading: read all members, then call done() once.
//
//   Fields fields(object, "perNodeCertificate");
//   fields.read("enabled", config.enabled);
//   fields.read("certDir", config.cert_dir);
//   return fields.done();
class Fields {
 public:
  explicit Fields(const Object& object, std::string path = {}, Match match = Match::kFolded)
      : object_(object), path_(std::move(path)), match_(match) {}

  void read(std::string_view key, std::string& out);
  void read(std::string_view key, bool& out);
  void read(std::string_view key, std::int64_t& out);
  void read(std::string_view key, std::uint64_t& out);
  void read(std::string_view key, double& out);
  void read(std::string_view key, std::vector<std::string>& out);  // replaces the contents
  template <typename T>
  void read(std::string_view key, std::optional<T>& out) {
    if (find(key) == nullptr) return;
    T value{};
    read(key, value);
    if (!error_) out = std::move(value);
  }
  // Calls `visit` with the object and its path; it may return an error.
  void object(std::string_view key,
              const std::function<Result<void>(const Object&, std::string)>& visit);
  // Calls `visit` for each element, with its path ("ips[2]").
  void list(std::string_view key,
            const std::function<Result<void>(const Value&, std::string)>& visit);

  // nullptr if the member is absent or null.
  const Value* find(std::string_view key) const;
  std::string path_of(std::string_view key) const;

  // Reports an error that the caller found. Only the first error is kept.
  void fail(std::string_view key, std::string_view why);
  Result<void> done() const;

 private:
  template <typename T>
  void read_integer(std::string_view key, std::string_view wanted,
                    std::optional<T> (Number::*as)() const, T& out);
  void wrong_kind(std::string_view key, std::string_view wanted, const Value& got);

  const Object& object_;
  std::string path_;
  Match match_;
  std::optional<Error> error_;
};

// One of `keys` that the object has in two spellings; empty if there is none. Programs that ignore
// letter case read both into one member, each in its own way.
std::string_view find_respelled(const Object& object, std::span<const std::string_view> keys);

// `path: expected a string, got a number`
Error wrong_kind(std::string_view path, std::string_view wanted, const Value& got);

}  // namespace mnet::json
