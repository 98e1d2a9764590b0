// All network definitions as the API server last told of them (03, 5.3). What is small of each is
// in memory; their texts, whose size their authors choose, are kept only as far as there is
// room for them. A Reflector fills it; any code on the same loop may read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "json/count.h"
#include "json/json.h"
#include "kube/sink.h"
#include "kube/watch_event.h"
#include "model/objects.h"

namespace mnet::kube {

class Definitions final : public Sink {
 public:
  // With what an ADD of a definition of a megabyte takes for a moment, the daemon stays below 32
  // MB.
  static constexpr std::size_t kMaxTextBytes = 4u << 20;

  // Of a definition whose text may be in memory or not; at most about a kilobyte. What is too long
  // to be meant in earnest is left out.
  struct Summary {
    std::string resource_version = {};
    std::size_t size = 0;    // of its text, in bytes
    json::Count count = {};  // what its text becomes when it is read
    std::string resource_name = {};
    std::vector<std::string> plugin_types = {};  // each `type` of its text; for people, not checked
  };

  explicit Definitions(std::size_t max_text_bytes = kMaxTextBytes)
      : max_text_bytes_(max_text_bytes) {}

  // nullptr if there is no such definition. Valid until the next change.
  const Summary* find(std::string_view ns, std::string_view name) const;
  // The whole definition for a request of this node; nullptr if there is none, or if its text is
  // not in memory. Texts that no request has asked for go first, then those that were asked for the
  // longest time ago.
  model::NetworkDefinitionPtr use(std::string_view ns, std::string_view name);
  // Takes back a text that was read for a request, if it is that of the definition known here.
  void keep(const model::NetworkDefinitionPtr& read);

  // Called with the key of each definition that is new, or another than before.
  void observe(std::function<void(const std::string& key)> observer) {
    observer_ = std::move(observer);
  }

  std::size_t size() const { return summaries_.size(); }
  // Bytes of all texts in memory, with what it takes to keep them. Texts of a list that is still
  // being read count, too.
  std::size_t text_bytes() const { return text_bytes_; }
  // How many texts were dropped so far for want of room.
  std::uint64_t evictions() const { return evictions_; }

  void begin() override;
  Result<void> add(const json::Object& object) override { return put(next_, object); }
  void commit() override;
  Result<void> change(EventType type, const json::Object& object) override;

 private:
  using Summaries = std::unordered_map<std::string, Summary>;
  struct Text {
    model::NetworkDefinitionPtr whole;
    bool is_used = false;
  };
  using Texts = std::list<Text>;  // the one to go next is the last

  Result<void> put(Summaries& summaries, const json::Object& object);
  void put_text(model::NetworkDefinitionPtr whole, bool is_used);
  void drop_text(const std::string& key);
  void drop_unknown_texts();
  void drop_text(Texts& texts, Texts::iterator text);
  Texts& texts_of(bool is_used) { return is_used ? used_ : unused_; }

  void tell(const Summaries& before, const std::string& key) const;

  const std::size_t max_text_bytes_;
  std::function<void(const std::string& key)> observer_;
  Summaries summaries_, next_;
  // One text for each key, of whichever list came last: a second list takes no second copy.
  Texts used_, unused_;
  std::unordered_map<std::string, Texts::iterator> places_;
  std::size_t text_bytes_ = 0;
  std::uint64_t evictions_ = 0;
};

}  // namespace mnet::kube
