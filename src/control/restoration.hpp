// Putting back what dead or overdue holders left: by the guardian, by the next process that takes a lease, and by `zeus
// restore`. Safe from any thread and from several processes at once: each GPU is put back by one of them.
#pragma once

#include "base/clock.hpp"
#include "control/ledger.hpp"
#include "device/backend.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace zeus::control {

// The result for one record: for its holder's claim, or for the child's if only that has ended.
struct Restoration {
  enum class Result {
    restored,   // all is as it was found, and the claim is gone
    held,       // its holder lives: left alone
    past,       // it was from before a reboot: nothing to put back, and the record is gone
    failed,     // the record stays for the next attempt; `why` says what failed
    forgotten,  // nothing was put back, and the record is gone: forget()
  };

  std::string gpu;   // UUID
  std::string name;  // in this program; the record has its name in the holder's
  Result result = Result::failed;
  // The owner's claim: the holder's, or the borrower's. Nothing if the record could not be read.
  std::optional<Claim> claim;
  std::string why;
};

std::string_view to_string(Restoration::Result result);

// How long to wait for a process that works on a GPU.
inline constexpr Seconds work_patience{10};

// Goes through the records of all GPUs, or of the one with the UUID `only`. `gpus` are those that can be reached from
// here: a record of any other GPU fails unless it is held. GPUs are put back side by side: a failure affects no other
// GPU, and one that hangs in its driver delays the answer but not the others. For a GPU that was held for a client, a
// note is left (Ledger::leave_note).
std::vector<Restoration> restore_abandoned(const Ledger& ledger, std::span<const device::DiscoveredGpu> gpus,
                                           Clock& clock, const std::optional<std::string>& only = std::nullopt,
                                           Seconds patience = work_patience);

// Removes the record of a GPU that is gone for good, and puts nothing back. Held if a process has a lease of the GPU
// now; a failed one (restore_abandoned()) is what to call it with.
void forget(const Ledger& ledger, Restoration& failed, Clock& clock, Seconds patience = work_patience);

// Removes the remains of a process that was killed before the first record of a GPU was complete, and so before
// anything was changed. Waits a moment for a process that is still writing. What cannot be removed stays, and does no
// harm.
void clear_begun(const Ledger& ledger, Clock& clock);

}  // namespace zeus::control
