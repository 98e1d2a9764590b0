// The files of the folder as they were last read. All calls block on the disk; one at a time.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "manifests/objects.h"
#include "manifests/snapshot.h"

namespace mnet::manifests {

// Whether a file of this name is read: it ends in .yaml, .yml or .json and does not begin with a
// dot.
bool is_manifest_name(std::string_view name);

// What has happened in the folder.
struct Touched {
  std::set<std::string> written;  // closed by a writer, renamed from or to, removed
  std::set<std::string> created;  // perhaps still being written
  bool everything = false;        // what has happened is not known

  bool nothing() const { return written.empty() && created.empty() && !everything; }
};

// What a load has changed. Each text is reported once, as long as its cause lasts.
struct Update {
  std::shared_ptr<const Snapshot> snapshot;  // nullptr: as it was
  std::vector<std::string> errors;           // file, line and reason
  std::vector<std::string> warnings;
};

class Contents {
 public:
  // Reads nothing yet.
  explicit Contents(std::string folder);

  // Reads what was touched. A file that cannot be used leaves its last good objects in force; one
  // that is gone takes its objects with it. A folder that cannot be read, or is gone, leaves them
  // all in force. A file that was just created counts when its writer has closed it; a link counts
  // at once.
  Update load(const Touched& touched);

 private:
  struct File {
    std::string seen;                        // fingerprint of the text, or why it cannot be read
    std::shared_ptr<const Objects> objects;  // the last good ones; nullptr: none yet
    bool is_unread = false;                  // as it is now
  };

  void load_everything(Update& update);
  void load_file(const std::string& name, Update& update);
  void drop(const std::string& name);
  void note_trouble(Update& update, const Error& why);
  std::string unread() const;
  // Whether the text is new for this file.
  bool note(File& file, std::string seen);
  void publish(Update& update);

  const std::string folder_;
  std::map<std::string, File> files_;  // in byte order: later names win
  std::set<std::string> warned_;
  std::string trouble_;       // of the folder itself
  bool is_unlisted_ = false;  // it is there
  bool changed_ = false, loaded_ = false;
};

}  // namespace mnet::manifests
