// The folder in which leases are written down: for each GPU one record, while it is leased or somebody has yet to put
// it back, and one lock. Whoever changes a record does so while working (GpuLock::begin_work).
// Threads: any. A Ledger refers to nothing but files; several of one folder, in one process or in many, are the same.
#pragma once

#include "base/clock.hpp"
#include "base/file_tree.hpp"
#include "control/claim_end.hpp"
#include "control/gpu_lock.hpp"
#include "control/lease_record.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zeus::control {

// What a record means now.
enum class Standing {
  held,             // its holder lives, and its time is not up; nor is that of who has borrowed from it
  child_abandoned,  // so it is, but who has borrowed from it is gone, or has not renewed in time
  abandoned,        // its holder is gone, has not renewed in time, or could not put things back
  past,             // it speaks of an earlier boot of the machine, which has reset all settings: not to be applied
};

class Ledger {
 public:
  // `folder` is where the records are (state_folder.hpp); `machine` is where /proc is.
  Ledger(FileTree folder, FileTree machine);

  [[nodiscard]] const FileTree& machine() const { return machine_; }
  [[nodiscard]] const std::string& boot() const { return boot_; }

  // The GPUs that have a record, by UUID.
  [[nodiscard]] std::vector<std::string> gpus() const;
  // The GPUs that have none, but what is left of writing one: somebody is at it now, or was killed meanwhile.
  [[nodiscard]] std::vector<std::string> begun() const;
  // Where the record of a GPU is.
  [[nodiscard]] std::string path(std::string_view gpu) const;

  [[nodiscard]] std::shared_ptr<GpuLock> lock(std::string_view gpu) const;

  // Nothing when there is none. One that cannot be read as a record is a corrupt_data Error that names its file and
  // says what to do. One that somebody other than root or this user can have written is not obeyed: a permission_denied
  // Error.
  [[nodiscard]] std::optional<LeaseRecord> read(std::string_view gpu) const;
  // Durable once it returns; the former record stays when it fails.
  void write(const LeaseRecord& record) const;
  void remove(std::string_view gpu) const;
  // Leaves of the record what is left once its claim, or that of the child, has ended (ending.hpp).
  void settle(const LeaseRecord& record, const ClaimEnd& ending) const;

  // What was put back for a client whose holder could not: told to the holder that serves such clients next, by one
  // note for each GPU. What cannot be noted is not, and what cannot be read as a note is dropped.
  void leave_note(const LeaseRecord& put_back) const noexcept;
  [[nodiscard]] std::optional<LeaseRecord> note(std::string_view gpu) const;
  void drop_note(std::string_view gpu) const;

  [[nodiscard]] Standing standing(const LeaseRecord& record, Instant now) const;

 private:
  // What was read last: a holder reads its own record before each change, and finds it as it was.
  struct LastRead;

  FileTree folder_;
  FileTree machine_;
  std::string boot_;
  std::shared_ptr<LastRead> last_;
};

}  // namespace zeus::control
