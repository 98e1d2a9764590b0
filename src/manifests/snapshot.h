// All objects of the folder at one moment. Immutable once made: it is read without
// locking and never changes.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "manifests/objects.h"
#include "model/objects.h"

namespace mnet::manifests {

class Snapshot {
 public:
  template <typename Object>
  using Table = std::map<std::pair<std::string, std::string>,  // namespace, name
                         std::shared_ptr<const Object>>;

  // nullptr if there is none. What is found stays valid without the snapshot.
  model::PodObjectPtr find_pod(std::string_view ns, std::string_view name) const;
  model::NetworkDefinitionPtr find_network(std::string_view ns, std::string_view name) const;

  // Why some file or the folder could not be read: what is not found may be in it. Empty: all
  // could.
  const std::string& unread() const { return unread_; }

  const Table<model::PodObject>& pods() const { return pods_; }
  const Table<model::NetworkDefinition>& networks() const { return networks_; }

 private:
  friend class Merger;
  Table<model::PodObject> pods_;
  Table<model::NetworkDefinition> networks_;
  std::string unread_;
};

// Puts the objects of several files together. An object that came before is replaced by the later
// one, with a text in warnings().
class Merger {
 public:
  // The objects live as long as a pointer to one of them.
  void add(const std::string& file, const std::shared_ptr<const Objects>& objects);

  void set_unread(std::string why) { snapshot_->unread_ = std::move(why); }

  // In the order they came up.
  const std::vector<std::string>& warnings() const { return warnings_; }
  std::shared_ptr<const Snapshot> take() { return std::move(snapshot_); }

 private:
  template <typename Object>
  void put(Snapshot::Table<Object>& table, std::string_view kind, const std::string& file,
           std::shared_ptr<const Object> object);

  std::shared_ptr<Snapshot> snapshot_ = std::make_shared<Snapshot>();
  std::map<const void*, std::string> file_of_;  // by object
  std::vector<std::string> warnings_;
};

}  // namespace mnet::manifests
