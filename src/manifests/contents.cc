#include "manifests/contents.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "manifests/objects.h"
#include "manifests/snapshot.h"
#include "sys/file.h"

namespace mnet::manifests {
namespace {

constexpr std::size_t kLargestFile = 16u << 20;

// Short, and equal only for equal texts for all that matters here: whether a file says anything
// new.
std::string fingerprint(std::string_view text) {
  return cat(text.size(), " ", std::hash<std::string_view>()(text));
}

// A link has no writer of its own whose end could be awaited.
bool is_link(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::symlink_status(path, ignored).type() == std::filesystem::file_type::symlink)
    return true;
  const auto names = std::filesystem::hard_link_count(path, ignored);
  return !ignored && names > 1;
}

}  // namespace

bool is_manifest_name(std::string_view name) {
  return !name.starts_with('.') &&
         (name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with(".json"));
}

Contents::Contents(std::string folder) : folder_(std::move(folder)) {}

Update Contents::load(const Touched& touched) {
  Update update;
  if (touched.everything) {
    load_everything(update);
  } else {
    for (const std::string& name : touched.written) load_file(name, update);
    for (const std::string& name : touched.created) {
      if (is_link(cat(folder_, "/", name))) load_file(name, update);
    }
  }
  if (changed_ || !loaded_) publish(update);
  return update;
}

void Contents::load_everything(Update& update) {
  auto entries = sys::list_directory(folder_);
  const bool is_unlisted = !entries && !sys::is_missing(entries.error());
  changed_ |= std::exchange(is_unlisted_, is_unlisted) != is_unlisted;
  if (!entries) return note_trouble(update, entries.error());
  trouble_.clear();

  std::set<std::string> names;
  for (const sys::Entry& entry : *entries) {
    const bool is_file =
        entry.kind == sys::EntryKind::kRegular || entry.kind == sys::EntryKind::kLink;
    if (is_file && is_manifest_name(entry.name)) names.insert(entry.name);
  }
  changed_ |=
      std::erase_if(files_, [&names](const auto& file) { return !names.contains(file.first); }) > 0;
  for (const std::string& name : names) load_file(name, update);
}

void Contents::load_file(const std::string& name, Update& update) {
  if (!is_manifest_name(name)) return;
  const std::string path = cat(folder_, "/", name);
  if (sys::is_directory(path)) return;
  auto text = sys::read_file(path, kLargestFile);
  if (!text && sys::is_missing(text.error())) return drop(name);

  File& file = files_[name];
  const bool is_unread = !text;
  changed_ |= std::exchange(file.is_unread, is_unread) != is_unread;
  if (!text) {
    if (note(file, text.error().text())) update.errors.push_back(text.error().text());
    return;
  }
  if (!note(file, fingerprint(*text))) return;
  auto objects = parse_objects(*text);
  if (!objects) {
    update.errors.push_back(cat(path, ": ", objects.error().text()));
    return;
  }
  file.objects = std::make_shared<const Objects>(*std::move(objects));
  changed_ = true;
}

bool Contents::note(File& file, std::string seen) {
  if (file.seen == seen) return false;
  file.seen = std::move(seen);
  return true;
}

void Contents::drop(const std::string& name) { changed_ |= files_.erase(name) > 0; }

// A folder that cannot be read, or is gone, says nothing about its objects: pods that came up
// without their networks in the meantime would be worse than pods of yesterday (06, pain 30).
void Contents::note_trouble(Update& update, const Error& why) {
  if (trouble_ == why.text()) return;
  trouble_ = why.text();
  update.errors.push_back(files_.empty() ? trouble_
                                         : cat(trouble_, "; its last objects stay in use"));
}

std::string Contents::unread() const {
  if (is_unlisted_) return trouble_;
  const auto file =
      std::ranges::find_if(files_, [](const auto& one) { return one.second.is_unread; });
  return file == files_.end() ? std::string() : file->second.seen;
}

void Contents::publish(Update& update) {
  Merger merger;
  for (const auto& [name, file] : files_) {
    if (file.objects != nullptr) merger.add(name, file.objects);
  }
  merger.set_unread(unread());
  const auto& warnings = merger.warnings();
  std::ranges::copy_if(warnings, std::back_inserter(update.warnings),
                       [this](const std::string& text) { return !warned_.contains(text); });
  warned_ = {warnings.begin(), warnings.end()};
  update.snapshot = merger.take();
  changed_ = false;
  loaded_ = true;
}

}  // namespace mnet::manifests
