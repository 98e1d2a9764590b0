// The files through which kube-watch and its handler exchange values (04, 2.5): the channel with
// the new value while a handler runs, and beside it `.prev` with the last one that was handled.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace mnet::kube_watch {

class Channel {
 public:
  // Makes the folder (0755) and an empty channel (0644).
  static Result<Channel> make(std::string path);

  const std::string& path() const { return path_; }

  // Of an earlier run; empty if there was none.
  Result<std::string> load_previous() const;

  // For the time of a handler.
  Result<void> begin(const std::string& value, const std::string& previous) const;
  // After its success.
  Result<void> finish(const std::string& value) const;

 private:
  explicit Channel(std::string path) : path_(std::move(path)) {}

  Result<void> keep_previous(const std::string& value) const;

  std::string path_;
};

}  // namespace mnet::kube_watch
