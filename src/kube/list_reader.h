// Reads the answer to a LIST as it comes: one item at a time, whatever the size of the whole.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/json.h"

namespace mnet::kube {

struct ListEnd {
  std::string resource_version = {};  // empty: an API that has no versions
  std::string continuation = {};      // metadata.continue; empty: this was the last page
};

class ListReader {
 public:
  explicit ListReader(std::size_t max_item = 8u << 20) : max_item_(max_item) {}

  // kProtocol if the text cannot be a list.
  Result<void> put(std::string_view bytes);
  // The text of the next whole item. Call it until it returns none, then put() more.
  std::optional<std::string> next_item();
  // Items that were larger than allowed and left out.
  std::size_t skipped() const { return skipped_; }
  // When all has come: what stands beside the items.
  Result<ListEnd> finish() const;

 private:
  void note_string(char byte);
  Result<void> outside(char byte);
  Result<void> between_items(char byte);
  void inside_item(char byte);
  void count(char byte);

  std::size_t max_item_;
  std::string outer_;  // the text without its items
  std::string item_;
  std::deque<std::string> items_;
  std::size_t skipped_ = 0;
  int depth_ = 0;
  bool in_string_ = false;
  bool is_escaped_ = false;
  bool in_items_ = false, has_items_ = false;
  bool is_too_large_ = false;
  std::string last_string_;  // at depth 1: a key, if a colon follows
  bool after_items_key_ = false;
};

}  // namespace mnet::kube
