// The runs of a ledger as results: CSV, JSON and the content of a page. Pure functions; any thread.
#pragma once

#include "records/findings.hpp"
#include "sweep/ledger.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace zeus::sweep {

// The names of all parameters, in the order in which they first occur, without those that each run has: `hostname` and
// `slots`.
std::vector<std::string> parameter_names(const LedgerContent& ledger);

// The state of a run: its outcome, or "running".
std::string state_text(const KnownRun& run);
// The models of its GPUs, as "2 x Tesla V100", or nothing.
std::string gpu_text(const RunFigures& figures);
// The last metric that it printed.
std::optional<double> last_metric(const RunFigures& figures);

// Of each run, the numbers of those that used one of its GPUs at the same time, in their order: its energy has theirs
// in it.
std::vector<std::vector<std::uint64_t>> runs_beside(const LedgerContent& ledger);
// How many runs had others beside them, and what helps; empty if none had.
std::string beside_text(const LedgerContent& ledger);

std::string results_csv(const LedgerContent& ledger);
std::string results_json(const LedgerContent& ledger);
records::Findings results_findings(const LedgerContent& ledger);

}  // namespace zeus::sweep
