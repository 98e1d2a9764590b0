// The rule for every DEL that the runtime did not just ask for. One function decides: judge().
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "aio/keyed_lock.h"
#include "aio/task.h"
#include "attach/ports.h"
#include "chain/results.h"
#include "json/json.h"
#include "model/attachment.h"
#include "model/attachment_record.h"

namespace mnet::upkeep {

// What a path says about the namespace in a record.
enum class Namespace : std::uint8_t {
  kSame,     // it leads to it
  kOther,    // it leads to another one: the path was reused
  kGone,     // nothing is at the path
  kUnknown,  // it is not known whether a namespace is there
};

// `container c1 of pod ns/name`, or the container alone.
std::string described(const model::AttachmentRecord& record);

class Rule : public attach::DelRule {
 public:
  // Inodes of the network namespaces that processes are in; kDenied if we may not look.
  using UsedNamespaces = std::function<aio::Task<std::set<std::uint64_t>>()>;
  // The ports must outlive it, and it must outlive its tasks. `boot_id`: of this boot; empty: not
  // known. No `used`: namespaces are told by their paths alone.
  Rule(attach::Records& records, chain::Results& results, attach::Links& links, std::string boot_id,
       UsedNamespaces used = {})
      : records_(records),
        results_(results),
        links_(links),
        boot_id_(std::move(boot_id)),
        used_(std::move(used)) {}

  // A pending DEL is needed until it succeeds.
  aio::Task<bool> is_needed(std::string cni_dir, std::string container_id) override;
  // - The plugins get no namespace if the path leads to another one than was recorded.
  // - A network stays while a living container holds its device, or one of its addresses on the
  //   same network, whichever Multus attached that. A definition of another namespace is another
  //   network: authors choose CNI names and addresses as they like.
  // (That a DEL resumes at the plugin that failed is true of every DEL: chain::Chain::del().)
  aio::Task<Verdicts> judge(std::string cni_dir, std::vector<model::AttachmentPtr> networks,
                            IsGone is_gone) override;

  // The record of a container; none if there is none or it is damaged.
  aio::Task<std::optional<model::AttachmentRecord>> find_record(std::string cni_dir,
                                                                std::string container_id);
  // Where `netns` leads, compared with the record. An error if that is not known now.
  aio::Task<Namespace> find_namespace(std::string netns, std::string boot_id, std::uint64_t inode);

 private:
  // What only one container can hold.
  struct Holding {
    std::string device_id = {};
    std::string network = {};     // of the addresses, by its CNI name
    std::string definition = {};  // the network as recorded, `<ns>/<name>`; empty: not known
    std::set<std::string> addresses = {};  // without prefix lengths
    bool is_empty() const { return device_id.empty() && addresses.empty(); }
    bool overlaps(const Holding& other) const;
  };
  static Holding holding_of(const model::RecordedAttachment& recorded);
  static std::vector<Holding> holdings_of(const model::AttachmentRecord& record);
  // `recorded`: what the attachment record says of it.
  aio::Task<Holding> holding_of(std::string cni_dir, model::AttachmentPtr network,
                                Holding recorded);
  // Another container of the node.
  struct Other {
    model::AttachmentRecord record;  // without its networks
    std::vector<Holding> holdings;
  };
  aio::Task<Other> find_other(std::string cni_dir, std::string container_id);
  aio::Task<Other> find_unrecorded(std::string cni_dir, std::string container_id);
  aio::Task<bool> may_live(std::string cni_dir, model::AttachmentRecord record);
  aio::Task<bool> is_used_unseen(std::string cni_dir, model::AttachmentRecord record);
  // Whether the namespace of another container on record is seen, and has this inode.
  aio::Task<bool> is_anothers(std::string cni_dir, std::string container_id, std::uint64_t inode);
  // What a container holds, in short: a hash of each device, and of each address with its network.
  using Marks = std::vector<std::uint32_t>;  // sorted
  static Marks marks_of(const std::vector<Holding>& holdings);
  // What is known of a record in this state. Thousands of containers may wait for their DEL, and
  // each DEL asks what all others hold.
  struct Known {
    std::string stamp;
    Marks marks;
  };
  // The containers that may hold something of that: of the others nothing is read.
  aio::Task<std::vector<std::string>> find_suspects(std::string cni_dir, Marks wanted);
  // For each of them the living container that holds it, for messages; empty: none does.
  aio::Task<std::vector<std::string>> find_holders(std::string cni_dir, std::string container_id,
                                                   std::vector<Holding> wanted, IsGone is_gone);
  aio::Task<std::string> netns_for(std::string cni_dir, model::AttachmentPtr network,
                                   std::string boot_id, std::uint64_t inode);

  attach::Records& records_;
  chain::Results& results_;
  attach::Links& links_;
  std::string boot_id_;
  UsedNamespaces used_;
  std::map<std::string, std::map<std::string, Known>> known_;  // by cniDir and container id
  aio::KeyedLock turns_;  // of those that read the records of others
};

}  // namespace mnet::upkeep
