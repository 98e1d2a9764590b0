// What is stored about one container: its scratch file, its entries of the result cache and its
// attachment record, and what a DEL makes of them (02, 6.1 and 6.2; 05, 3.11).
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "aio/task.h"
#include "attach/core.h"
#include "attach/ports.h"
#include "base/error_list.h"
#include "chain/chain.h"
#include "model/attachment_record.h"

namespace mnet::attach {

struct ContainerRecords {
  bool has_file = false;                                  // a scratch file exists, readable or not
  std::optional<std::vector<model::Delegate>> delegates;  // what it lists; none if it is damaged
  std::vector<cni::CacheEntry> entries;                   // in byte order of their file names
  bool has_attachment_record = false;  // there is an attachment record, readable or not
  std::optional<model::AttachmentRecord> attachment_record;  // what it says; none if it is damaged
  ErrorList unreadable;  // of files that may be this container's and could not be read

  const cni::CacheEntry* find_entry(const std::string& network, const std::string& ifname) const;
  // The name of the master's interface: `cni_ifname`, unless the cache knows the master only under
  // another.
  std::string master_ifname(const std::string& cni_ifname) const;
};

// The attachment record of a container; none if there is none, or if it is damaged. `records` must
// outlive the task.
aio::Task<std::optional<model::AttachmentRecord>> find_record(Records* records, std::string cni_dir,
                                                              std::string container_id);

// Loads and saves the records of the container that a request is for.
class RecordAccess {
 public:
  // Both must outlive it, and it must outlive its tasks.
  RecordAccess(const Core& core, const Job& job) : core_(core), job_(job) {}

  // Everything that there is. Damaged files are logged and count as empty (02-F40); one that cannot
  // be read is an error with code 11: nothing may be decided without it, or written over it.
  aio::Task<ContainerRecords> load();
  // For DEL, which does what it can: files that cannot be read are logged and in `unreadable`. An
  // error, with code 11, only if the machine lacks the means to read.
  aio::Task<ContainerRecords> load_readable();
  // The files, once there is room for them.
  aio::Task<StoredRecords> load_files(RecordParts parts);
  // What the files weigh; nothing of them is loaded.
  aio::Task<std::size_t> weigh();
  // What load() makes of files that are loaded already.
  Result<ContainerRecords> read(Result<StoredRecords> loaded) const;

  // The scratch file, durable.
  aio::Task<void> save_delegates(std::vector<model::Delegate> delegates);
  // The scratch file without these interfaces, durable: elements stay in their places, because
  // names derive from those (02, 4.1); that one is done is a member of our own, which the original
  // ignores (0015).
  aio::Task<void> mark_removed(ContainerRecords record, std::set<std::string> ifnames);
  // The attachment record, durable.
  aio::Task<void> save_record(model::AttachmentRecord attachment_record);
  // Scratch file and attachment record: one goes with the other (05, 3.11).
  aio::Task<void> remove();

  // Puts a recorded result back into the result cache, where plugins get it, if it is lost there.
  aio::asio::awaitable<void> restore_result(model::AttachmentPtr attachment, json::Value result);

 private:
  Result<ContainerRecords> read_readable(Result<StoredRecords> loaded) const;
  // Stores what was read, or notes why it could not be read.
  template <typename T>
  Result<void> take(ContainerRecords& record, Result<T> read, T& into, std::string_view what) const;
  // What the error of reading `what` means for the records; an error if it ends the request.
  Result<void> note_failure(ContainerRecords& record, const Error& error,
                            std::string_view what) const;

  const Core& core_;
  const Job& job_;
};

// What is to be taken down, in the order in which ADD made it. A delegate whose DEL succeeded
// before is not among them.
struct TakeDown {
  std::vector<model::AttachmentPtr> listed;  // their errors fail the DEL; hot-plugged ones are last
  std::vector<model::AttachmentPtr>
      leftovers;  // known to the result cache alone, beside a readable list
};
// Takes the delegates out of `record`, where only their places are left: a second copy of them is
// not made.
TakeDown take_down_of(const Job& job, ContainerRecords& record);

// Whether a runtime wrote this entry for Multus itself: `cniDir` may be the runtime's own cache.
bool is_of_runtime(const model::Delegate& delegate, const model::NetConf& conf);

// Gives a conflist without a version the netconf's, for DEL; nothing else changes (02, 6.3).
void fill_version(model::Delegate& delegate, const std::string& version);

}  // namespace mnet::attach
