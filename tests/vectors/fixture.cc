#include "fixture.h"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "base/durability.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "group.h"
#include "json/json.h"
#include "sys/file.h"

namespace mnet::vectors {
namespace {

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

std::string with_places(const std::string& text, std::string_view directory) {
  return replaced(replaced(text, "${DIR}", directory), "${SELF_NETNS}", "/proc/self/ns/net");
}

Result<void> write_files(const json::Object& files, const std::string& directory) {
  for (const auto& [name, contents] : files) {
    if (contents.as_string() == nullptr) {
      return Error(Errc::kBug, cat("broken case: file ", name, " has no text"));
    }
    const std::string path = cat(directory, "/", name);
    MNET_TRY_VOID(sys::make_directories(sys::directory_of(path), 0755));
    MNET_TRY_VOID(sys::replace_file(path, *contents.as_string(), 0644, Durability::kInPlace));
  }
  return {};
}

}  // namespace

Result<void> lay_out(const json::Object& input, const std::string& directory) {
  if (const json::Value* files = input.find("files"); files != nullptr) {
    if (files->is_null()) {
      std::error_code failed;
      if (std::filesystem::remove(directory, failed)) return {};
      return Error(Errc::kIo, cat("removing ", directory, ": ", failed.message()));
    }
    MNET_TRY(auto&& object, object_of(input, "files"));
    MNET_TRY_VOID(write_files(object, directory));
  }
  if (input.find("empty_dirs") == nullptr) return {};
  MNET_TRY(auto&& names, array_of(input, "empty_dirs"));
  for (const json::Value& name : names) {
    if (name.as_string() == nullptr) return Error(Errc::kBug, "broken case: empty_dirs");
    MNET_TRY_VOID(sys::make_directories(cat(directory, "/", *name.as_string()), 0755));
  }
  return {};
}

json::Value with_places(const json::Value& value, std::string_view directory) {
  if (const std::string* text = value.as_string()) return with_places(*text, directory);
  if (const json::Array* items = value.as_array()) {
    json::Array out;
    for (const json::Value& item : *items) out.push_back(with_places(item, directory));
    return out;
  }
  if (const json::Object* object = value.as_object()) {
    json::Object out;
    for (const auto& [key, member] : *object) {
      out.set(with_places(key, directory), with_places(member, directory));
    }
    return out;
  }
  return value;
}

}  // namespace mnet::vectors
