// Putting back what dead or overdue holders left: done by the guardian, by whoever takes a lease next, and by
// `zeus restore`. Safe from any thread and from several processes at once: each GPU is put back by one of them.
#pragma once

#include "base/clock.hpp"
#include "control/ledger.hpp"
#include "device/backend.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace zeus::control {

// What became of one record: of its holder's claim, or of the child's if that has ended alone.
struct Restoration {
  enum class Result {
    restored,  // all is as it was found, and the claim is gone
    held,      // whoever has it lives: left alone
    past,      // it was of an earlier boot: nothing to put back, and the record is gone
    failed,    // the record stays for the next attempt; `why` says what stands in the way
  };

  std::string gpu;   // UUID
  std::string name;  // as this program knows it: the record has the name that it had in its holder's
  Result result = Result::failed;
  // Whose it is or was: the holder's, or that of who has borrowed from it. Nothing when the record could not be read.
  std::optional<Claim> claim;
  std::string why;
};

std::string_view to_string(Restoration::Result result);

// How long to wait for somebody who is at work on a GPU.
inline constexpr Seconds work_patience{10};

// Goes through the records of all GPUs, or of the one with the UUID `only`. `gpus` are those that can be reached from
// here: a record of any other that is not held fails. One that fails leaves the others alone, and one that hangs in its
// driver holds up none of them, though the answer: they are put back side by side. What was held for a client is noted
// (Ledger::note).
std::vector<Restoration> restore_abandoned(const Ledger& ledger, std::span<const device::DiscoveredGpu> gpus,
                                           Clock& clock, const std::optional<std::string>& only = std::nullopt,
                                           Seconds patience = work_patience);

// Removes what was left by somebody who was killed before the first record of a GPU was whole, and before anything was
// changed. Who is still writing one is waited for, for a moment. What cannot be removed stays, and does no harm.
void clear_begun(const Ledger& ledger, Clock& clock);

}  // namespace zeus::control
