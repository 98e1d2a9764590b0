// Which pending DEL is replayed next. Plugins may hang, and authors of pods choose them: so each
// namespace has its turn, and no namespace has all slots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace mnet::daemon {

class ReplayQueue {
 public:
  using Place = std::pair<std::string, std::string>;  // cniDir, file

  // `at_once`: how many are replayed side by side; a namespace has one fewer, if there are several.
  explicit ReplayQueue(std::size_t at_once) : most_(at_once > 1 ? at_once - 1 : 1) {}

  // Replaces what waits below the directory; what is being replayed stays out.
  void assign(const std::string& cni_dir, const std::vector<std::string>& files);
  // The next one, to be followed by end(). None: nothing may run now.
  std::optional<Place> take();
  // The file was read and is of this namespace. False: another one goes first, and this one waits
  // again.
  bool begin(const Place& place, const std::string& ns);
  void end(const Place& place);

  // Nothing waits, and nothing is being replayed.
  bool is_idle() const { return unread_.empty() && waiting_.empty() && taken_.empty(); }

 private:
  struct Namespace {
    std::size_t running = 0;
    std::uint64_t turn = 0;  // its last one

    bool precedes(const Namespace& other) const {
      return std::pair(running, turn) < std::pair(other.running, other.turn);
    }
  };
  using Waiting = std::map<std::string, std::set<Place>>;  // by namespace
  Waiting::iterator first();
  std::set<Place> known() const;
  void drop_idle();

  const std::size_t most_;
  std::uint64_t turns_ = 0;
  std::set<Place> unread_;  // of no known namespace
  Waiting waiting_;
  std::map<Place, std::optional<std::string>> taken_;  // with its namespace from begin() on
  std::map<std::string, Namespace> namespaces_;
};

}  // namespace mnet::daemon
