// The folder in which leases are written down. For each GPU it has one lock, and one record while the GPU is leased or
// not yet put back. Change a record only while working (GpuLock::begin_work). Threads: any. A Ledger refers to nothing
// but files, so several Ledgers of one folder, in one process or in many, are equivalent.
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
  held,             // its holder lives and has renewed in time, and so has the borrower, if any
  child_abandoned,  // the holder does, but the borrower is gone, or has not renewed in time
  abandoned,        // its holder is gone, has not renewed in time, or could not put settings back
  past,             // it is from before a reboot, which has reset all settings: do not apply it
};

class Ledger {
 public:
  // `folder` is where the records are (state_folder.hpp); `machine` is where /proc is.
  Ledger(FileTree folder, FileTree machine);

  [[nodiscard]] const FileTree& machine() const { return machine_; }
  [[nodiscard]] const std::string& boot() const { return boot_; }

  // The GPUs that have a record, by UUID.
  [[nodiscard]] std::vector<std::string> gpus() const;
  // The GPUs without a record but with the remains of writing one: a process writes it now, or was killed while it
  // wrote.
  [[nodiscard]] std::vector<std::string> begun() const;
  // The path of a GPU's record.
  [[nodiscard]] std::string path(std::string_view gpu) const;

  [[nodiscard]] std::shared_ptr<GpuLock> lock(std::string_view gpu) const;

  // Nothing if there is none. If it cannot be read as a record, a corrupt_data Error names its file and says what to
  // do. If a user other than root and this one can have written it, it is not obeyed: a permission_denied Error.
  [[nodiscard]] std::optional<LeaseRecord> read(std::string_view gpu) const;
  // Durable once it returns; if it fails, the former record stays.
  void write(const LeaseRecord& record) const;
  void remove(std::string_view gpu) const;
  // Leaves in the record what is left once its claim, or the child's, has ended (claim_end.hpp).
  void settle(const LeaseRecord& record, const ClaimEnd& ending) const;

  // Notes for clients whose settings were put back although their holder could not do it, one for each GPU: the holder
  // that serves such clients next reads them. A note that cannot be written is left out; one that cannot be read is
  // dropped.
  void leave_note(const LeaseRecord& put_back) const noexcept;
  [[nodiscard]] std::optional<LeaseRecord> note(std::string_view gpu) const;
  void drop_note(std::string_view gpu) const;

  [[nodiscard]] Standing standing(const LeaseRecord& record, Instant now) const;

 private:
  // The last record read: a holder reads its own record before each change, and usually finds it unchanged.
  struct LastRead;

  FileTree folder_;
  FileTree machine_;
  std::string boot_;
  std::shared_ptr<LastRead> last_;
};

}  // namespace zeus::control
